"""The admin: every page opens, for those who may come in."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from agents.memory.classes import ChatMemory
from agents.models import (
    Agent,
    Approval,
    Block,
    BlockEdit,
    BlockShare,
    Compaction,
    Editor,
    Event,
    Identity,
    Message,
    Passage,
    RequestText,
    Run,
    Step,
    Tool,
)
from tests.conftest import Ask
from tests.support.admin_forms import SOURCE, address
from tests.support.fake_openai import FakeOpenAI, calls, reasoning, status, text

# -- every page ------------------------------------------------------------------------------------


@pytest.fixture
def history(ask: Ask, model: FakeOpenAI, agent: Agent, human: Block, alice: User) -> None:
    """Data of every kind: thoughts, tool calls, edits by all sorts of editors, a failed run."""
    append = ("core_memory_append", {"label": "human", "content": "Likes <i>pie</i>"})
    model.script(
        reasoning("Hm, <script>.", then=calls(append, ("no_such_tool", "not JSON"))),
        text("**Noted** <img src=x onerror=alert(1)>."),
        status(401),
    )
    ask("Hello <script>alert(1)</script>")
    ask("And now?")
    agent.send("Waits", "waiting")
    edit = human.append("By hand", by=Editor.person(alice))
    assert edit is not None
    human.undo(edit, by=Editor.person(alice, Editor.API))
    Event.objects.create(agent=agent, seq=agent.last_seq + 100, kind=Event.Kind.TEXT)
    step = Step.objects.all()[0]
    Approval.objects.create(
        step=step, tool_call_id="call", why=NASTY, reason=NASTY, expires_at=step.started_at
    )
    Compaction.objects.create(
        conversation_id=agent.pk,
        run=step.run,
        first=1,
        last=2,
        tokens_before=100,
        tokens_after=10,
        summary=NASTY,
        written_by=Compaction.Author.MODEL,
    )
    BlockShare.share(human, User.objects.create_user("carol"), can_write=True)
    Passage.insert(agent, NASTY, ["<i>travel</i>"], by=Editor.person(alice))
    Tool.from_source(alice, SOURCE)
    known = Identity.objects.create(
        owner=alice, identifier_key=NASTY, name=NASTY, identity_type="user", properties=[NASTY]
    )
    known.agents.add(agent)


NASTY = "Hello <script>alert(1)</script>"
LOOKED_AT: list[Any] = [BlockEdit, Event, Message, Run, Step]
LOOKED_AT += [Approval, BlockShare, Compaction, Identity, RequestText]
KINDS: list[Any] = [Agent, Block, Passage, Tool, *LOOKED_AT]


def listed(kind: Any) -> str:
    return reverse(f"admin:agents_{kind._meta.model_name}_changelist")


@pytest.mark.slow
def test_every_list_opens_also_searched_sorted_and_paged(desk: Client, history: None) -> None:
    for kind in KINDS:
        assert kind.objects.exists()
        for query in ("", "?q=tutor", "?q=00", "?q=%00", "?p=1", "?all=", "?o=1.2"):
            response = desk.get(listed(kind) + query, follow=True)
            assert response.status_code == 200, (kind, query)


@pytest.mark.slow
def test_every_row_opens_and_what_the_model_said_is_no_markup(desk: Client, history: None) -> None:
    for kind in KINDS:
        for row in kind.objects.all():
            page = desk.get(address(row))
            assert page.status_code == 200, row
            assert "<script>alert(1)" not in page.content.decode()
            assert "<img src=x" not in page.content.decode()
            assert desk.get(address(row, "history")).status_code == 200


@pytest.mark.slow
def test_every_filter_of_a_list_opens(desk: Client, history: None) -> None:
    for kind in KINDS:
        rows = desk.get(listed(kind)).context["cl"]
        assert (
            rows.filter_specs or kind is RequestText
        )  # texts and their SHA-256, nothing to filter by
        # A choice of each filter at a time, until each has had all its choices.
        for chosen in zip_longest(*(spec.choices(rows) for spec in rows.filter_specs)):
            query = "&".join(choice["query_string"][1:] for choice in chosen if choice)
            assert desk.get(f"{listed(kind)}?{query}").status_code == 200, (kind, query)


def test_what_was_said_and_done_is_only_looked_at(desk: Client, history: None) -> None:
    for kind in LOOKED_AT:
        row = kind.objects.all()[0]
        add = reverse(f"admin:agents_{kind._meta.model_name}_add")
        assert desk.get(add).status_code == 403
        assert desk.post(address(row), {}).status_code == 403
        assert desk.post(address(row, "delete"), {"post": "yes"}).status_code == 403
        assert "delete_selected" not in desk.get(listed(kind)).content.decode()
    assert desk.get(reverse("admin:agents_agent_add")).status_code == 403


def test_rows_are_found_by_the_id_in_an_agents_address(desk: Client, history: None) -> None:
    agent = Agent.objects.get()
    of_agents: list[Any] = [
        Agent,
        Approval,
        Compaction,
        Event,
        Message,
        RequestText,
        Passage,
        Run,
        Step,
    ]
    for kind in of_agents:
        found = desk.get(listed(kind), {"q": str(agent.pk)}).context["cl"]
        assert found.result_count == kind.objects.count() > 0


def test_lists_ask_the_same_number_of_queries_however_long_they_are(
    desk: Client, alice: User, django_assert_max_num_queries: Any
) -> None:
    for number in range(20):
        Agent.create(alice, f"Agent {number}", ChatMemory())
    for kind in KINDS:
        with django_assert_max_num_queries(12):
            desk.get(listed(kind))


# -- who may come in -------------------------------------------------------------------------------


def test_a_person_who_is_no_staff_gets_no_admin(client: Client, alice: User, settings: Any) -> None:
    settings.ACCOUNTS = True
    client.force_login(alice)
    for page in (reverse("admin:index"), *map(listed, KINDS)):
        response = client.get(page, follow=True)
        assert response.status_code == 403
        assert "Dashboard" not in response.content.decode()


def test_a_stranger_is_sent_to_the_one_log_in(client: Client, db: None, settings: Any) -> None:
    settings.ACCOUNTS = True
    response = client.get(reverse("admin:agents_block_changelist"), follow=True)
    assert response.redirect_chain[-1][0].startswith(reverse("account_login"))


def test_staff_sees_what_they_were_given_and_changes_nothing_else(
    client: Client, alice: User, human: Block, settings: Any
) -> None:
    settings.ACCOUNTS = True
    alice.is_staff = True
    alice.save()
    alice.user_permissions.add(Permission.objects.get(codename="view_block"))
    client.force_login(alice)
    page = client.get(address(human))
    assert page.status_code == 200
    assert "Name: Bob" in page.content.decode()
    assert client.post(address(human), {"value": "Mine"}).status_code == 403
    assert client.get(reverse("admin:agents_agent_changelist")).status_code == 403


def test_the_one_owner_of_a_single_user_server_has_the_admin(client: Client, db: None) -> None:
    assert client.get(reverse("admin:index")).status_code == 200


def test_every_noun_is_registered() -> None:
    assert all(admin.site.is_registered(kind) for kind in KINDS)
