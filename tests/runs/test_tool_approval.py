"""A tool that needs approval by its own setting: it waits, by whichever door it was set."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from agents.agent_file import export_agent, import_agent
from agents.memory.classes import BasicBlockMemory
from agents.models import Agent, Approval, Block, Run, Tool
from agents.runs.loop import run_agent
from tests.conftest import Ask
from tests.support.api_client import Api
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.tool_pages import html, save, tab, words_of

NOTE = '''
def note(agent_state: "AgentState", words: str):
    """Note something.

    Args:
        words (str): What.
    """
    agent_state.memory.update_block_value("human", words)
    return "Noted."
'''
CALL = ("note", {"words": "Likes pie"})


@pytest.fixture
def agent(alice: User) -> Agent:
    """An agent whose tool `note` needs approval; the agent has no rule."""
    Tool.from_source(alice, NOTE, default_requires_approval=True)
    memory = BasicBlockMemory([Block(label="human", value="Name: Bob")])
    return Agent.create(alice, "Bob's", memory, tools=["note"])


@pytest.fixture
def api(alice: User) -> Api:
    return Api(alice)


@pytest.fixture
def path(agent: Agent) -> str:
    return f"/agents/agent-{agent.pk}"


def waits(run: Run) -> bool:
    """Whether the run waits for a person, and nothing was written."""
    waiting = Approval.objects.filter(step__run=run, status="pending").exists()
    assert waiting == (human(run.agent) == "Name: Bob")
    return waiting


def human(agent: Agent) -> str:
    block = agent.block("human")
    assert block
    return block.value


def stored() -> Tool:
    return Tool.objects.get(name="note")


# -- the gate --------------------------------------------------------------------------------------


def test_a_tool_that_needs_approval_waits_though_the_agent_has_no_rule(
    agent: Agent, model: FakeOpenAI, ask: Ask, alice: User
) -> None:
    model.script(calls(CALL), text("Done."))
    run = ask("I like pie")
    assert waits(run)
    approval = Approval.objects.get()
    assert approval.why == "note needs approval"
    assert approval.changes == [{"label": "human", "before": "Name: Bob", "after": "Likes pie"}]
    approval.decide(Approval.Status.APPROVED, alice)
    run_agent(run.pk)
    assert human(agent) == "Likes pie"


def test_an_agent_may_be_told_otherwise_for_itself_alone(
    agent: Agent, api: Api, path: str, model: FakeOpenAI, ask: Ask
) -> None:
    for wanted in (False, True):
        shown = api.patch(f"{path}/tools/approval/note", {"requires_approval": wanted})
        assert ["requires_approval" in rule["type"] for rule in shown["tool_rules"]] == [True] * (
            wanted
        )
        agent.refresh_from_db()
        model.script(calls(CALL), text("Done."))
        Block.objects.filter(label="human").update(value="Name: Bob")
        assert waits(ask("I like pie")) is wanted
    assert stored().default_requires_approval


# -- the doors -------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["post", "put", "patch"])
def test_the_api_sets_and_shows_it(
    verb: str, agent: Agent, api: Api, path: str, model: FakeOpenAI, ask: Ask
) -> None:
    plain = {"source_code": NOTE, "default_requires_approval": False}
    if verb == "post":
        stored().delete()
    else:
        assert api.put("/tools/", plain)["default_requires_approval"] is False
    asked = {**plain, "default_requires_approval": True}
    address = f"/tools/tool-{stored().pk}" if verb == "patch" else "/tools/"
    made = api.ask(verb.upper(), address, asked)
    assert made["default_requires_approval"] is True
    assert api.get(f"/tools/{made['id']}")["default_requires_approval"] is True
    assert api.get(f"{path}/tools")[0]["default_requires_approval"] is True
    assert [r["type"] for r in api.get(path)["tool_rules"]] == ["requires_approval"]
    model.script(calls(CALL))
    assert waits(ask("I like pie"))
    api.put("/tools/", {"source_code": NOTE})  # what is not said stays
    assert stored().default_requires_approval


def test_an_open_page_hears_that_a_script_changed_its_agents_tool(agent: Agent, api: Api) -> None:
    seq = agent.last_seq
    api.put("/tools/", {"source_code": NOTE, "default_requires_approval": False})
    assert [event.kind for event in agent.events.filter(seq__gt=seq)] == ["agent_changed"]


def test_the_editor_and_the_list_show_and_set_it(web: Client, agent: Agent) -> None:
    assert "needs approval" in words_of(html(web.get(reverse("tools"))))
    assert "needs approval (a setting of the tool)" in words_of(tab(web, agent))
    save(web, stored())  # the box is not ticked
    assert not stored().default_requires_approval
    assert "needs approval" not in words_of(html(web.get(reverse("tools"))))
    save(web, stored(), default_requires_approval="on")
    assert stored().default_requires_approval
    assert "checked" in html(web.get(reverse("tool", args=[stored().pk])))


def test_the_rules_of_an_agent_show_it_and_can_say_otherwise(web: Client, agent: Agent) -> None:
    address = reverse("tool_rules", args=[agent.pk])
    shown = html(web.get(address, {"tool": "note"}))
    assert shown.count("checked") == 1
    web.post(address, {"tool": "note", "requires_approval": "on"})
    agent.refresh_from_db()
    assert agent.tool_rules == []  # the tool itself says it
    web.post(address, {"tool": "note"})
    agent.refresh_from_db()
    assert agent.tool_rules == [{"type": "no_approval", "tool_name": "note"}]
    assert "needs no approval, whatever the tool says" in words_of(tab(web, agent))
    assert "checked" not in html(web.get(address, {"tool": "note"}))


def test_the_admin_sets_it(web: Client, alice: User, agent: Agent) -> None:
    alice.is_staff = alice.is_superuser = True
    alice.save()
    tool = stored()
    form = {"source": tool.source, "name": "note", "tags": "[]", "return_char_limit": 50_000}
    address = reverse("admin:agents_tool_change", args=[tool.pk])
    assert web.post(address, form).status_code == 302
    assert not stored().default_requires_approval
    assert web.post(address, {**form, "default_requires_approval": "on"}).status_code == 302
    assert stored().default_requires_approval


def test_an_agent_file_brings_it_along(agent: Agent, bob: User, alice: User) -> None:
    file = export_agent(agent)
    assert [tool["default_requires_approval"] for tool in file["tools"]] == [True]
    import_agent(bob, file)
    assert Tool.objects.get(owner=bob).default_requires_approval


def test_a_file_gates_its_agent_where_the_tool_that_is_here_does_not_ask(
    agent: Agent, alice: User
) -> None:
    file = export_agent(agent)
    Tool.objects.update(default_requires_approval=False)
    made = import_agent(alice, file).agent
    assert made.tool_rules == [{"tool_name": "note", "type": "requires_approval"}]
    assert not stored().default_requires_approval  # of the agents that were here


def test_a_waiver_goes_into_a_file_and_comes_back(agent: Agent, bob: User) -> None:
    agent.configure(tool_rules=[{"type": "no_approval", "tool_name": "note"}])
    file = export_agent(agent)
    assert file["agents"][0]["tool_rules"] == []  # Letta's readers know no such rule
    assert import_agent(bob, file).agent.tool_rules == agent.tool_rules


# -- what a script sees ----------------------------------------------------------------------------


def test_a_script_that_writes_back_the_rules_it_read_changes_nothing(
    agent: Agent, api: Api, path: str
) -> None:
    for wanted in (True, False):
        api.patch(f"{path}/tools/approval/note", {"requires_approval": wanted})
        rules = [rule for rule in api.get(path)["tool_rules"] if rule["type"] != "exit_loop"]
        more: dict[str, Any] = {"type": "exit_loop", "tool_name": "note"}
        shown = api.patch(path, {"tool_rules": [*rules, more]})["tool_rules"]
        assert [rule["type"] for rule in shown] == ["requires_approval"] * wanted + ["exit_loop"]


def test_a_tool_that_memoryweb_brings_says_where_its_approval_is_set(api: Api) -> None:
    sent = api.get("/tools/?name=send_message")[0]
    change = {"default_requires_approval": True}
    refusal = api.patch(f"/tools/{sent['id']}", change, expect=403)["detail"]
    assert "comes with memoryweb" in refusal
    assert "/tools/approval/send_message" in refusal
