"""Lists of conversations: they go on however many there are."""

from __future__ import annotations

import re
from datetime import timedelta

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
    ListedConversation,
    Role,
    Run,
    Step,
)
from agents.models.conversation_list import MOST_LISTED, list_conversations
from agents.pages import conversations
from agents.runs.loop import run_agent
from tests.support.fake_openai import FakeOpenAI, text
from tests.support.pages import at


@pytest.fixture
def many(agent: Agent) -> list[Conversation]:
    """The newest first; two of them were spoken in at the same moment."""
    start = timezone.now() - timedelta(days=1)
    rows = [
        Conversation(
            agent=agent, title=f"Talk {n}", last_message_at=start - timedelta(hours=n - n % 2)
        )
        for n in range(MOST_LISTED + 15)
    ]
    Conversation.objects.bulk_create(rows)
    agent.first_conversation.archive()
    return list(agent.conversations.listed())


def test_the_list_of_agents_leads_on_to_the_conversations_it_does_not_show(
    web: Client, agent: Agent, many: list[Conversation]
) -> None:
    page = web.get(at("agent", agent.pk)).content.decode()
    (address,) = re.findall(r'href="([^"]+\?after=[^"]+)"', page)
    assert many[MOST_LISTED - 1].get_absolute_url() in page
    assert many[MOST_LISTED].get_absolute_url() not in page
    older = web.get(address).content.decode().partition("all-conversations")[2]
    titles = re.findall(r">(Talk \d+)</a>", older)
    assert titles == [each.title for each in many[MOST_LISTED:]]


def test_they_stand_by_last_activity_under_headings_with_the_open_one_among_them(
    agent: Agent, many: list[Conversation]
) -> None:
    titles = {}
    for title, ago in (("Newest", 0), ("Lately", 3), ("Old", 30)):
        talk = Conversation.create(agent, title=title)
        moment = timezone.now() - timedelta(days=ago)
        Conversation.objects.filter(pk=talk.pk).update(last_message_at=moment)
        titles[title] = talk
    listed = dict(list_conversations(agent, agent.owner).groups)
    assert [each.title for each in listed["Today"]][:1] == ["Newest"]
    assert list(listed) in (["Today", "This week"], ["Today", "This week", "Older"])
    assert sum(map(len, listed.values())) == MOST_LISTED
    shown = list_conversations(agent, agent.owner, titles["Old"].pk).groups
    assert shown[0] == ("Open", [titles["Old"]])
    assert list_conversations(agent, agent.owner, titles["Newest"].pk).groups[0][0] == "Today"


def test_the_filter_finds_titles_also_of_those_that_are_not_listed(
    web: Client, bobs_web: Client, agent: Agent, many: list[Conversation]
) -> None:
    page = web.get(at("agent", agent)).content.decode()
    address = at("conversations_list", agent)
    assert f'data-list="{address}"' in page
    assert page.count("<a ") <= 100
    found = web.get(address, {"q": "tALK 44"}).content.decode()
    assert many[44].get_absolute_url() in found
    assert found.count("<a ") == 1
    assert "No conversation has this" in web.get(address, {"q": "nothing"}).content.decode()
    assert bobs_web.get(address, {"q": "Talk"}).status_code == 404


def test_what_a_person_has_not_read_and_what_waits_for_them_is_marked(
    web: Client, agent: Agent, alice: User, bob: User, model: FakeOpenAI
) -> None:
    first, second = agent.first_conversation, Conversation.create(agent, title="Second")
    headers = {"HX-Request": "true"}

    def say(conversation: Conversation, words: str) -> Run:
        model.script(text(f"You say {words}."))
        run = conversation.send(words, words)
        run_agent(run.pk)
        return run

    def drawn(user: User, shown: Conversation) -> str:
        page = render_list(user, agent.pk, shown.pk)
        return page[page.index('id="conversations"') :]

    say(second, "Hello")
    assert "data-unread" not in drawn(alice, first), "it was never looked at"
    assert "data-read-due" in drawn(alice, second)
    read = {"read": 1, "conversation": str(second.pk)}
    assert web.post(at("agent_listed", agent), read, headers=headers).status_code == 204
    assert "data-read-due" not in drawn(alice, second)
    say(second, "More")
    assert drawn(alice, first).count("data-unread") == 1
    AgentShare.share(agent, bob, Role.VIEWER)
    assert "data-unread" not in drawn(bob, first), "read is each person's own"
    other = {"read": 1, "conversation": str(Conversation.create(bobs_agent(bob)).pk)}
    assert web.post(at("agent_listed", agent), other, headers=headers).status_code == 204
    assert ListedConversation.objects.get().conversation == second
    run = Run.objects.create(agent=agent, conversation=second, key="k", text="?", status="waiting")
    step = Step.objects.create(run=run, number=1, model="m", endpoint="e")
    Approval.objects.create(step=step, tool_call_id="c", expires_at=timezone.now())
    assert "(waits for you)" in drawn(alice, first)
    with CaptureQueriesContext(connection) as caught:
        list_conversations(agent, alice, second.pk)
    assert len(caught) == 1


def bobs_agent(bob: User) -> Agent:
    return Agent.create(bob, "Planner", ChatMemory())


def test_the_page_of_all_goes_on_to_its_end(
    web: Client, agent: Agent, many: list[Conversation], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversations, "LISTED", 7)
    address, found = at("conversations", agent.pk), []
    for _ in range(len(many)):
        page = web.get(address, headers={"HX-Request": "true"}).content.decode()
        assert "<html" not in page
        found += re.findall(r">(Talk \d+)</a>", page)
        if not (following := re.search(r'hx-get="([^"]+)"', page)):
            break
        address = following[1]
    assert found == [each.title for each in many]
    assert web.get(f"{at('conversations', agent.pk)}?after=nonsense").status_code == 200
