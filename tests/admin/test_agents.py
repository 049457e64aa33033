"""Agents in the admin: their passages, tools, steps and settings."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from agents.models import (
    Agent,
    Block,
    Editor,
    Event,
    Message,
    Passage,
    RequestText,
    Run,
    Step,
    Tool,
)
from tests.conftest import Ask
from tests.support.admin_forms import SOURCE, FormOfPage, address, kinds, opened, saved
from tests.support.fake_openai import FakeOpenAI, text

# -- archival memory -------------------------------------------------------------------------------


@pytest.fixture
def passage(agent: Agent, alice: User) -> Passage:
    return Passage.insert(agent, "Sarah likes pie", ["food"], by=Editor.person(alice))


def test_a_passage_is_changed_by_its_verb(
    desk: Client, passage: Passage, agent: Agent, operator: User
) -> None:
    form = opened(desk, passage)
    given = {"text": "Sarah likes cake\r\nand pie", "tags": '["food", " sweet "]'}
    assert saved(desk, passage, form, **given).status_code == 302
    assert (passage.text, passage.tags) == ("Sarah likes cake\nand pie", ["food", "sweet"])
    assert (passage.editor_kind, passage.user) == (Editor.ADMIN, operator)
    assert kinds(agent)[-1] == Event.Kind.ARCHIVAL_CHANGED


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"text": " "}, "The passage is empty"),
        ({"text": "x" * 100_001}, "at most 100,000 are allowed"),
        ({"tags": '{"a": 1}'}, "Tags are a list of strings"),
        ({"tags": '[""]'}, "One of the tags is empty"),
    ],
)
def test_a_passage_that_cannot_be_is_refused_in_its_own_words(
    changes: dict[str, str], words: str, desk: Client, passage: Passage
) -> None:
    response = saved(desk, passage, opened(desk, passage), **changes)
    assert words in response.content.decode()
    assert (passage.text, passage.tags) == ("Sarah likes pie", ["food"])


def test_a_passage_is_put_away_and_deleted(desk: Client, agent: Agent) -> None:
    page = FormOfPage(desk.get(reverse("admin:agents_passage_add")).content.decode())
    given = {"agent": str(agent.pk), "text": "Riga is in Latvia", "tags": "[]"}
    response = desk.post(reverse("admin:agents_passage_add"), {**page.fields, **given})
    assert response.status_code == 302
    passage = agent.passages.get()
    assert (passage.text, passage.editor_name) == ("Riga is in Latvia", "olga")
    desk.post(address(passage, "delete"), {"post": "yes"})
    assert not agent.passages.exists()
    assert kinds(agent)[-2:] == [Event.Kind.ARCHIVAL_CHANGED] * 2
    agent.refresh_from_db()
    assert agent.passage_count == 0


# -- custom tools ----------------------------------------------------------------------------------


def test_a_tool_is_read_off_its_source(desk: Client, alice: User) -> None:
    add = reverse("admin:agents_tool_add")
    page = FormOfPage(desk.get(add).content.decode())
    given = {**page.fields, "owner": str(alice.pk)}
    wrong = desk.post(add, {**given, "source": "def dice(sides: int):\n    return 4"})
    assert wrong.status_code == 200
    assert "docstring" in wrong.content.decode()
    assert not Tool.objects.exists()
    assert desk.post(add, {**given, "source": SOURCE.replace("\n", "\r\n")}).status_code == 302
    tool = Tool.objects.get()
    assert (tool.name, tool.owner, tool.tags) == ("roll_dice", alice, [])
    assert tool.json_schema["parameters"]["required"] == ["sides"]
    renamed = SOURCE.replace("roll_dice", "throw_dice")
    saved(desk, tool, opened(desk, tool), source=renamed, name="")
    assert tool.name == "throw_dice"


# -- what a step sent ------------------------------------------------------------------------------


def test_a_step_says_whether_its_request_is_proven(
    desk: Client, ask: Ask, model: FakeOpenAI
) -> None:
    model.script(text("Hello."))
    step = ask().steps.get()
    assert "exactly what was sent" in desk.get(address(step)).content.decode()
    RequestText.objects.update(text="Tampered with")
    assert "This is not what was sent" in desk.get(address(step)).content.decode()
    Step.objects.update(request={})
    assert "It was not kept." in desk.get(address(step)).content.decode()


def test_an_agents_new_settings_are_in_the_admin(desk: Client, agent: Agent) -> None:
    agent.configure(tool_rules=[{"tool_name": "core_memory_append", "type": "run_first"}])
    form = opened(desk, agent)
    saved(desk, agent, form, reflect_every="5", context_window="9000", name="Coach")
    assert (agent.reflect_every, agent.context_window, agent.name) == (5, 9000, "Coach")


# -- agents ----------------------------------------------------------------------------------------


def test_an_agent_is_configured_and_its_pages_are_told(desk: Client, agent: Agent) -> None:
    agent.configure(prompt_template="Mine: {{ values|json }}")
    form = opened(desk, agent)
    saved(desk, agent, form, name="Coach", system_prompt="You are a coach.\r\nBe brief.")
    assert (agent.name, agent.system_prompt) == ("Coach", "You are a coach.\nBe brief.")
    assert agent.prompt_template == "Mine: {{ values|json }}"
    assert kinds(agent)[-2:] == [Event.Kind.AGENT_CHANGED, Event.Kind.MEMORY_CHANGED]


def test_saving_an_agent_without_a_change_tells_nobody(desk: Client, agent: Agent) -> None:
    before = kinds(agent)
    assert saved(desk, agent, opened(desk, agent)).status_code == 302
    assert kinds(agent) == before


def chosen(desk: Client, action: str, *agents: Agent) -> Any:
    picked = {"action": action, "_selected_action": [agent.pk for agent in agents], "post": "yes"}
    return desk.post(reverse("admin:agents_agent_changelist"), picked, follow=True)


def test_an_agent_is_deleted_recoverably_and_restored(
    desk: Client, agent: Agent, alice: User
) -> None:
    chosen(desk, "trash", agent)
    assert not Agent.objects.visible_to(alice).exists()
    assert Agent.objects.trashed_by(alice).get() == agent
    response = chosen(desk, "restore", agent)
    assert "1 restored." in response.content.decode()
    assert Agent.objects.visible_to(alice).get() == agent


def test_what_waits_for_a_deleted_agent_waits_until_it_is_restored(
    desk: Client, agent: Agent
) -> None:
    running, waiting = agent.send("Hello", "1"), agent.send("Still there?", "2")
    chosen(desk, "trash", agent)
    running = Run.objects.get(pk=running.pk)
    assert running.stop_requested
    running.end(Run.Reason.CANCELLED)
    waiting.refresh_from_db()
    assert waiting.status == Run.Status.QUEUED
    chosen(desk, "restore", agent)
    waiting.refresh_from_db()
    assert waiting.status == Run.Status.RUNNING


def test_an_agent_deleted_for_good_leaves_only_what_others_hold(
    desk: Client, ask: Ask, model: FakeOpenAI, agent: Agent, shared: Agent, human: Block
) -> None:
    model.script(text("Hello."))
    ask()
    page = desk.get(address(agent, "delete")).content.decode()
    assert "Messages: 2" in page
    desk.post(address(agent, "delete"), {"post": "yes"})
    assert list(Agent.objects.all()) == [shared]
    assert list(Block.objects.all()) == [human]
    assert not Message.objects.exists()


def test_agents_are_deleted_for_good_in_bulk(desk: Client, agent: Agent, shared: Agent) -> None:
    chosen(desk, "delete_selected", agent, shared)
    assert not Agent.objects.exists()
    assert not Block.objects.exists()


def test_a_person_with_agents_can_be_deleted(desk: Client, agent: Agent, alice: User) -> None:
    where = reverse("admin:auth_user_delete", args=[alice.pk])
    page = desk.get(where).content.decode()
    assert "Agents: 1" in page
    assert desk.post(where, {"post": "yes"}).status_code == 302
    assert not Agent.objects.exists()
