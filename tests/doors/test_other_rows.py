"""Passages, tools and agents, changed through every door that has them: the same outcome."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from agents.api.ids import numbered
from agents.models import Agent, Editor, Event, Passage, Tool
from tests.conftest import Ask
from tests.doors.doors import Log
from tests.support.admin_forms import address, opened
from tests.support.api_client import Api
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.pages import at

ARCHIVAL, AGENT = Event.Kind.ARCHIVAL_CHANGED, Event.Kind.AGENT_CHANGED


pytestmark = pytest.mark.usefixtures("accounts")


@pytest.fixture
def cast(request: pytest.FixtureRequest, alice: User, operator: User) -> Any:
    """A browser or script by the door's name: Alice's, but in the admin the operator's."""

    def enter(door: str, user: User | None = None) -> Any:
        if door == "api":
            return Api(user or alice)
        web = Client()
        web.force_login(operator if door == "admin" else user or alice)
        return web

    return enter


def sent(client: Any, method: str, path: str, body: Any = None) -> int:
    """The status of a script's request."""
    headers = client.headers
    send = getattr(client.client, method)
    return int(send(f"/v1{path}", body, "application/json", headers=headers).status_code)


# -- passages --------------------------------------------------------------------------------------


def insert(door: str, client: Any, agent: Agent, words: str, request: Any) -> bool:
    """Store a passage; whether the door says that it did."""
    if door == "page":
        form = {"text": words, "tags": ""}
        return bool(client.post(at("archival_add", agent), form).status_code == 200)
    if door == "api":
        path = f"/agents/agent-{agent.pk}/archival-memory"
        return sent(client, "post", path, {"text": words}) == 200
    if door == "admin":
        form = {"agent": str(agent.pk), "text": words, "tags": "[]"}
        return bool(client.post(reverse("admin:agents_passage_add"), form).status_code == 302)
    agent.configure(tools=["archival_memory_insert"])
    model: FakeOpenAI = request.getfixturevalue("model")
    ask: Ask = request.getfixturevalue("ask")
    model.script(calls(("archival_memory_insert", {"content": words})), text("Well."))
    return not ask("Keep it").messages.get(role="tool").is_error


EDITORS = {
    "page": (Editor.PERSON, "alice"),
    "api": (Editor.API, "alice"),
    "admin": (Editor.ADMIN, "olga"),
    "tool": (Editor.AGENT, "Tutor"),
}


@pytest.mark.parametrize(
    ("words", "kept"), [("Rex is a dog", True), (" \n ", False), ("x" * 100_001, False)]
)
@pytest.mark.parametrize("door", EDITORS)
def test_a_passage_is_stored_alike(
    door: str, words: str, kept: bool, cast: Any, agent: Agent, request: pytest.FixtureRequest
) -> None:
    log = Log()
    client = None if door == "tool" else cast(door)
    assert insert(door, client, agent, words, request) == kept
    agent.refresh_from_db()
    assert agent.passage_count == agent.passages.count() == kept
    if kept:
        passage = agent.passages.get()
        assert (passage.text, passage.editor_kind, passage.editor_name) == (words, *EDITORS[door])
        assert log.events(agent, ARCHIVAL) == [{"passage": passage.pk}]
    else:
        assert log.events(agent, ARCHIVAL) == []


def change(door: str, client: Any, passage: Passage, words: str, version: str = "") -> int:
    if door == "page":
        form = {"text": words, "tags": "", "version": version or passage.version}
        return int(client.post(at("archival_edit", passage.agent, passage), form).status_code)
    if door == "api":
        path = f"/agents/agent-{passage.agent_id}/archival-memory/{numbered('passage', passage.pk)}"
        return sent(client, "patch", path, {"text": words, "tags": []})
    form = {"text": words, "tags": "[]"}
    return int(client.post(address(passage), form).status_code)


@pytest.mark.parametrize("door", ["page", "api", "admin"])
def test_a_passage_is_changed_and_the_change_told_once(door: str, cast: Any, rex: Passage) -> None:
    log = Log()
    assert change(door, cast(door), rex, "Rex is a cat") in (200, 302)
    rex.refresh_from_db()
    assert (rex.text, rex.tags) == ("Rex is a cat", [])
    assert (rex.editor_kind, rex.editor_name) == EDITORS[door]
    assert log.events(rex.agent, ARCHIVAL) == [{"passage": rex.pk}]


@pytest.mark.parametrize("door", ["page", "api"])
def test_somebody_elses_passage_is_not_there(door: str, cast: Any, rex: Passage, bob: User) -> None:
    assert change(door, cast(door, bob), rex, "Mine") == 404
    rex.refresh_from_db()
    assert rex.text == "Rex is a dog"


def test_a_passage_that_was_changed_meanwhile_is_not_written_over(
    cast: Any, rex: Passage, by: Editor
) -> None:
    version = rex.version
    rex.edit("Rex is a cat", by=by)
    assert change("page", cast("page"), rex, "Rex is a bird", version) == 409
    rex.refresh_from_db()
    assert rex.text == "Rex is a cat"


@pytest.mark.parametrize("door", ["page", "api", "admin"])
def test_what_was_deleted_meanwhile_is_not_written(
    door: str, cast: Any, rex: Passage, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = Passage._lock

    def later(passage: Passage) -> None:
        Passage.objects.all().delete()
        lock(passage)

    client = cast(door)
    version = rex.version
    monkeypatch.setattr(Passage, "_lock", later)
    log = Log()
    assert change(door, client, rex, "Rex is a cat", version) in (302, 404, 409, 422)
    assert log.events(rex.agent, ARCHIVAL) == []


# -- custom tools ----------------------------------------------------------------------------------


def rewrite(door: str, client: Any, tool: Tool, source: str) -> int:
    if door == "page":
        form = {"source": source, "seen": tool.updated_at.isoformat()}
        return int(client.post(at("tool", tool), form).status_code)
    if door == "api":
        return sent(client, "patch", f"/tools/tool-{tool.pk}", {"source_code": source})
    form = {**opened(client, tool), "source": source, "name": ""}
    return int(client.post(address(tool), form).status_code)


@pytest.mark.parametrize("door", ["page", "api", "admin"])
def test_a_tool_that_is_renamed_stays_with_its_agents(
    door: str, cast: Any, agent: Agent, shout: Tool
) -> None:
    rule = {"type": "exit_loop", "tool_name": "shout"}
    agent.configure(tools=["shout"], tool_rules=[rule])
    log = Log()
    assert rewrite(door, cast(door), shout, shout.source.replace("shout", "cry")) in (200, 302)
    agent.refresh_from_db()
    assert agent.tools == ["cry"]
    assert agent.tool_rules == [{"type": "exit_loop", "tool_name": "cry"}]
    assert len(log.events(agent, AGENT)) == 1


@pytest.mark.parametrize("door", ["page", "api", "admin"])
def test_a_tool_does_not_take_the_name_of_another_that_its_agent_has(
    door: str, cast: Any, agent: Agent, shout: Tool
) -> None:
    Tool.from_source(agent.owner, shout.source.replace("shout", "cry"))
    agent.configure(tools=["shout", "cry"])
    status = rewrite(door, cast(door), shout, shout.source.replace("shout", "cry"))
    assert status == (200 if door == "admin" else 422)
    shout.refresh_from_db()
    assert shout.name == "shout"


@pytest.mark.parametrize("door", ["page", "api", "admin"])
def test_a_deleted_tool_leaves_its_agents_with_its_rules(
    door: str, cast: Any, agent: Agent, shout: Tool
) -> None:
    rule = {"type": "exit_loop", "tool_name": "shout"}
    agent.configure(tools=["shout", "core_memory_append"], tool_rules=[rule])
    client, log = cast(door), Log()
    if door == "api":
        assert (
            client.client.delete(f"/v1/tools/tool-{shout.pk}", headers=client.headers).status_code
            == 200
        )
    else:
        asked = at("tool_delete", shout) if door == "page" else address(shout, "delete")
        assert client.post(asked, {"post": "yes"}).status_code == 302
    agent.refresh_from_db()
    assert (agent.tools, agent.tool_rules) == (["core_memory_append"], [])
    assert len(log.events(agent, AGENT)) == 1
    assert not Tool.objects.exists()


# -- agents ----------------------------------------------------------------------------------------


def rename(door: str, client: Any, agent: Agent, name: str) -> int:
    if door == "api":
        return sent(client, "patch", f"/agents/agent-{agent.pk}", {"name": name})
    asked = at("agent_settings", agent) if door == "page" else address(agent)
    form = {
        "name": name,
        "system_prompt": agent.system_prompt,
        "max_steps": "50",
        "timezone": "UTC",
    }
    return int(client.post(asked, form | {"tools": agent.tools}).status_code)


@pytest.mark.parametrize("door", ["page", "api", "admin"])
def test_an_agents_settings_are_changed_alike(door: str, cast: Any, agent: Agent) -> None:
    before, log = agent.tools, Log()
    assert rename(door, cast(door), agent, "Coach") in (200, 302)
    agent.refresh_from_db()
    assert (agent.name, agent.tools) == ("Coach", before)
    assert len(log.events(agent, AGENT)) == 1


@pytest.mark.parametrize("door", ["page", "api", "admin"])
def test_settings_that_somebody_else_changed_meanwhile_stay(
    door: str, cast: Any, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what was changed at the door is written."""
    configure = Agent.configure

    def later(row: Agent, **changes: Any) -> None:
        Agent.objects.filter(pk=row.pk).update(max_steps=7)
        configure(row, **changes)

    monkeypatch.setattr(Agent, "configure", later)
    assert rename(door, cast(door), agent, "Coach") in (200, 302)
    agent.refresh_from_db()
    assert (agent.name, agent.max_steps) == ("Coach", 7)


@pytest.mark.parametrize("door", ["page", "api"])
def test_somebody_elses_agent_and_a_deleted_one_are_not_there(
    door: str, cast: Any, agent: Agent, bob: User
) -> None:
    assert rename(door, cast(door, bob), agent, "Mine") == 404
    agent.trash()
    assert rename(door, cast(door), agent, "Mine") == 404
    agent.refresh_from_db()
    assert agent.name == "Tutor"


@pytest.mark.parametrize("door", ["page", "api", "admin"])
def test_a_deleted_agent_can_be_brought_back_whatever_deleted_it(
    door: str, cast: Any, agent: Agent
) -> None:
    client, log = cast(door), Log()
    if door == "api":
        client.client.delete(f"/v1/agents/agent-{agent.pk}", headers=client.headers)
    elif door == "page":
        client.post(at("agent_delete", agent))
    else:
        form = {"action": "trash", "_selected_action": [agent.pk]}
        client.post(reverse("admin:agents_agent_changelist"), form)
    assert agent in Agent.objects.trashed_by(agent.owner)
    assert len(log.events(agent, AGENT)) == 1
