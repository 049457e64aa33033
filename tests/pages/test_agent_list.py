"""The list of agents: by last activity, under headings, as each person arranged it."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agents.live.frames import render_list
from agents.memory.classes import ChatMemory
from agents.models import (
    Agent,
    AgentShare,
    Approval,
    Conversation,
    ListedAgent,
    ListedConversation,
    Role,
    Run,
    Step,
)
from agents.models.agent_list import FIRST, list_agents
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, text
from tests.support.pages import at, shown
from tests.support.stored import of


def make(owner: User, name: str, **ago: float) -> Agent:
    """An agent that was last spoken to so long ago."""
    agent = Agent.create(owner, name, ChatMemory())
    moment = timezone.now() - timedelta(**ago)
    Conversation.objects.filter(pk=agent.pk).update(last_message_at=moment)
    return agent


def listed(user: User, **options: Any) -> dict[str, list[str]]:
    return {
        title: [each.name for each in group] for title, group in list_agents(user, **options).groups
    }


def post(client: Client, agent: Agent, **form: Any) -> Any:
    headers = {"HX-Request": "true"}
    return client.post(at("agent_listed", agent), form, headers=headers)


def test_agents_stand_by_last_activity_under_headings(alice: User) -> None:
    make(alice, "Old", days=30)
    make(alice, "Newest", seconds=0)
    make(alice, "Lately", days=3)
    assert listed(alice) == {"Today": ["Newest"], "This week": ["Lately"], "Older": ["Old"]}


def test_a_pin_and_the_archive_are_a_person_s_own(
    web: Client, bobs_web: Client, alice: User, bob: User
) -> None:
    old, new = make(alice, "Old", days=30), make(alice, "New", days=20)
    for agent in (old, new):
        AgentShare.share(agent, bob, Role.VIEWER)
    page = post(web, old, pinned=1)
    assert re.search(r"Pinned.*Old.*Older.*New", shown(page))
    post(bobs_web, old, archived=1)
    assert listed(alice) == {"Pinned": ["Old"], "Older": ["New"]}
    assert listed(bob) == {"Older": ["New"]}
    assert listed(bob, archived=True) == {"Older": ["Old"]}
    assert listed(bob, query="OL") == {"Older": ["Old"]}
    old.send("Hello", "k")
    assert listed(bob) == {"Today": ["Old"], "Older": ["New"]}, "what is said brings it back"
    post(web, old, pinned=0)
    assert listed(alice) == {"Today": ["Old"], "Older": ["New"]}


def test_what_a_person_has_not_read_is_marked(
    web: Client, agent: Agent, alice: User, model: FakeOpenAI, ask: Ask
) -> None:
    other = make(alice, "Other", days=1)
    assert "data-read-due" in web.get(at("agent", agent)).content.decode()
    post(web, agent, read=1)
    assert "data-unread" not in render_list(alice, other.pk, None)
    model.script(text("Here I am."))
    ask("Hello")
    there = render_list(alice, other.pk, None)
    assert there.count("data-unread") == 1
    assert "Here I am." in there
    here = render_list(alice, agent.pk, None)
    assert "data-unread" not in here
    assert "data-read-due" in here
    post(web, agent, read=1)
    assert "data-unread" not in render_list(alice, other.pk, None)


def test_an_agent_that_waits_for_a_person_says_so(agent: Agent, alice: User) -> None:
    run = Run.objects.create(**of(agent), key="k", text="Hello", status=Run.Status.WAITING)
    step = Step.objects.create(run=run, number=1, model="m", endpoint="e")
    later = timezone.now() + timedelta(days=1)
    asked = Approval.objects.create(step=step, tool_call_id="c", expires_at=later)
    assert "(waits for you)" in render_list(alice, None, None)
    Approval.objects.filter(pk=asked.pk).update(kind=Approval.Kind.CLIENT)
    assert "(waits for you)" not in render_list(alice, None, None)


@pytest.fixture
def thousand(alice: User) -> list[Agent]:
    """A thousand agents, the newest first."""
    start = timezone.now()
    rows = [Agent(owner=alice, name=f"Agent {n:04}") for n in range(1000)]
    Agent.objects.bulk_create(rows)
    for n, row in enumerate(rows):
        row.created_at = start - timedelta(hours=n)
    Agent.objects.bulk_update(rows, ["created_at"], batch_size=200)
    return rows


def test_a_thousand_agents_are_a_hundred_links_and_all_can_be_reached(
    web: Client, alice: User, thousand: list[Agent]
) -> None:
    page = web.get(at("agent", thousand[-1])).content.decode()
    assert page.count("<a ") <= 100
    assert shown(web.get(at("agent", thousand[-1]))).count("Agent 0999") >= 2, "the open one"
    names: list[str] = re.findall(r'class="name">(Agent \d+)<', render_list(alice, None, None))
    assert len(names) == FIRST
    start: Any = FIRST
    while start:
        part = web.get(at("agents_list"), {"start": start}).content.decode()
        names += re.findall(r'class="name">(Agent \d+)<', part)
        start = next(iter(re.findall(r'data-further="(\d+)"', part)), None)
    assert names == [row.name for row in thousand]
    assert part.count('class="group"') == 0, "a heading stands once"
    with CaptureQueriesContext(connection) as caught:
        list_agents(alice)
    assert len(caught) <= 2


def test_a_name_is_given_in_the_list(
    web: Client, bobs_web: Client, agent: Agent, bob: User
) -> None:
    AgentShare.share(agent, bob, Role.CHATTER)
    headers = {"HX-Request": "true"}
    page = web.post(at("agent_rename", agent), {"name": " Coach "}, headers=headers)
    assert "Coach" in shown(page)
    for name in ("", " ", "x" * 101):
        refused = web.post(at("agent_rename", agent), {"name": name}, headers=headers)
        assert (refused.status_code, refused.content) == (422, b"A name has 1 to 100 characters.")
    assert bobs_web.post(at("agent_rename", agent), {"name": "Mine"}).status_code == 403
    agent.refresh_from_db()
    assert agent.name == "Coach"


def test_a_message_costs_nothing_for_the_list(agent: Agent, alice: User) -> None:
    ListedAgent.pin(alice, agent, on=True)
    with CaptureQueriesContext(connection) as caught:
        agent.send("Hello", "k")
    assert not [each for each in caught if "agents_listedagent" in each["sql"]]


@pytest.mark.django_db(transaction=True)
def test_what_was_deleted_meanwhile_is_not_marked(
    web: Client, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = Conversation.objects.create(agent=agent)
    found = Conversation.of

    def find(*args: Any) -> Conversation | None:
        conversation = found(*args)
        Conversation.objects.get(pk=gone.pk).delete()  # by another tab, at this moment
        return conversation

    monkeypatch.setattr(Conversation, "of", find)
    assert post(web, agent, read=1, conversation=gone.pk).status_code == 204
    assert not ListedConversation.objects.exists()
