"""What an agent of each type begins with, and what its type has it do, as in Letta 0.16.8."""

from __future__ import annotations

from typing import Any

import pytest

from agents.api.built_in_tools import BASE_TOOLS, built_in_tools
from agents.models import Agent, Compaction, Run
from agents.pages.forms.agent import AgentForm
from tests.support.api_client import Api, say
from tests.support.fake_openai import FakeOpenAI, calls, text

MEMGPT = ["send_message", "conversation_search"]
TOOLS = {
    "memgpt_agent": [
        *(*MEMGPT, "core_memory_append", "core_memory_replace", "memory", "memory_apply_patch")
    ],
    "memgpt_v2_agent": [*MEMGPT, "memory_insert", "memory_replace"],
    "letta_v1_agent": ["conversation_search", "memory_insert", "memory_replace"],
    "react_agent": [],
    "workflow_agent": [],
    "sleeptime_agent": [
        *("memory_replace", "memory_insert", "memory_rethink", "memory_finish_edits")
    ],
}
ENDING = ("send_message", "memory_finish_edits")


def made(api: Api, agent_type: str | None, **given: Any) -> dict[str, Any]:
    named = {"agent_type": agent_type} if agent_type else {}
    answer: dict[str, Any] = api.post("/agents/", named | given)
    return answer


def rules_of(agent: dict[str, Any]) -> dict[str, str]:
    return {rule["tool_name"]: rule["type"] for rule in agent["tool_rules"]}


@pytest.mark.parametrize("agent_type", TOOLS)
def test_each_type_begins_with_its_tools_and_rules(api: Api, agent_type: str) -> None:
    agent = made(api, agent_type)
    expected = [name for name in TOOLS[agent_type] if name in built_in_tools()]
    assert [tool["name"] for tool in agent["tools"]] == expected
    assert agent["agent_type"] == agent_type
    if agent_type == "letta_v1_agent":
        assert rules_of(agent) == {}
    else:
        ends = {name: "exit_loop" if name in ENDING else "continue_loop" for name in expected}
        assert rules_of(agent) == ends
    assert agent["message_buffer_autoclear"] is (agent_type == "workflow_agent")


@pytest.mark.parametrize("agent_type", [None, *TOOLS])
def test_a_script_may_do_without_base_tools_and_rules(api: Api, agent_type: str | None) -> None:
    plain = made(api, agent_type, include_base_tools=False, tools=["send_message"])
    assert [tool["name"] for tool in plain["tools"]] == ["send_message"]
    talking = made(api, agent_type, include_base_tools=False, include_multi_agent_tools=True)
    assert {tool["tool_type"] for tool in talking["tools"]} == {"letta_multi_agent_core"}
    assert len(talking["tools"]) == 3
    without = made(api, agent_type, include_base_tool_rules=False)
    assert without["tool_rules"] == []


def test_rules_a_script_gives_stand_beside_the_base_rules(api: Api) -> None:
    own = [
        {"type": "run_first", "tool_name": "memory_insert"},
        {"type": "exit_loop", "tool_name": "send_message"},
    ]
    agent = made(api, "memgpt_v2_agent", tool_rules=own)
    assert [(rule["type"], rule["tool_name"]) for rule in agent["tool_rules"]] == [
        ("run_first", "memory_insert"),
        ("exit_loop", "send_message"),
        ("continue_loop", "conversation_search"),
        ("continue_loop", "memory_insert"),
        ("continue_loop", "memory_replace"),
    ]


def test_without_a_type_an_agent_is_as_older_notebooks_have_it(api: Api) -> None:
    agent = made(api, None)
    assert [tool["name"] for tool in agent["tools"]] == BASE_TOOLS
    assert agent["tool_rules"] == []
    asked = made(api, None, include_base_tool_rules=True)
    assert rules_of(asked) == {
        name: "exit_loop" if name == "send_message" else "continue_loop" for name in BASE_TOOLS
    }


@pytest.mark.parametrize("wrong", ["bogus", "", "voice_convo_agent", "split_thread_agent"])
def test_a_type_that_is_not_here_is_refused_by_name(api: Api, wrong: str) -> None:
    detail = api.post("/agents/", {"agent_type": wrong}, expect=422)["detail"]
    assert detail[0]["loc"] == ["body", "agent_type"]
    assert "memgpt_v2_agent" in detail[0]["msg"], "it says which there are"


def test_a_memgpt_agent_must_say_whether_it_wants_a_heartbeat(
    api: Api, model_at_once: FakeOpenAI
) -> None:
    agent = made(api, "memgpt_v2_agent", memory_blocks=[{"label": "human", "value": "Bob"}])
    insert = {"label": "human", "new_string": "Likes pie", "request_heartbeat": False}
    model_at_once.script(calls(("memory_insert", insert)), say("Noted."))
    answer = api.post(f"/agents/{agent['id']}/messages", {"input": "I like pie"})
    assert answer["messages"][-1]["content"] == "Noted.", "its rule has the turn go on"
    sent = {
        tool["function"]["name"]: tool["function"] for tool in model_at_once.requests[0]["tools"]
    }
    assert "request_heartbeat" in sent["memory_insert"]["parameters"]["required"]
    assert "request_heartbeat" not in sent["send_message"]["parameters"]["properties"]


def test_a_react_agent_answers_with_text_and_has_no_memory_tools(
    api: Api, model_at_once: FakeOpenAI
) -> None:
    agent = made(api, "react_agent")
    model_at_once.script(text("Hello."))
    answer = api.post(f"/agents/{agent['id']}/messages", {"input": "Hi"})
    assert answer["messages"][-1]["content"] == "Hello."
    assert "tools" not in model_at_once.requests[-1]
    assert "memory" not in agent["system"]


# -- an agent that forgets -------------------------------------------------------------------------


def said_to(model: FakeOpenAI) -> list[str]:
    """What the model was sent last, without the system message."""
    return [message["content"] for message in model.requests[-1]["messages"][1:]]


def test_a_workflow_agent_forgets_after_each_run(api: Api, model_at_once: FakeOpenAI) -> None:
    path = f"/agents/{made(api, 'workflow_agent')['id']}"
    for number in (1, 2):
        model_at_once.script(text(f"Done {number}."))
        api.post(f"{path}/messages", {"input": f"Task {number}"})
        assert said_to(model_at_once) == [f"Task {number}"]
    listed = [message.get("content") for message in api.get(f"{path}/messages")]
    assert "Task 1" in listed, "nothing that was said is lost"


def test_forgetting_is_turned_off_and_on_by_a_script(api: Api, model_at_once: FakeOpenAI) -> None:
    agent = made(api, "react_agent", message_buffer_autoclear=True)
    path = f"/agents/{agent['id']}"
    assert agent["message_buffer_autoclear"]
    model_at_once.script(text("One."), text("Two."), text("Three."))
    api.post(f"{path}/messages", {"input": "A"})
    assert not api.patch(path, {"message_buffer_autoclear": False})["message_buffer_autoclear"]
    api.post(f"{path}/messages", {"input": "B"})
    assert said_to(model_at_once) == ["A", "One.", "B"]
    api.patch(path, {"message_buffer_autoclear": True})
    api.post(f"{path}/messages", {"input": "C"})
    assert said_to(model_at_once) == ["C"]


def test_an_agent_that_forgets_also_forgets_the_summary_of_an_earlier_message(
    api: Api, model_at_once: FakeOpenAI
) -> None:
    path = f"/agents/{made(api, 'workflow_agent')['id']}"
    model_at_once.script(text("Done."), text("Done again."))
    api.post(f"{path}/messages", {"input": "Task 1"})
    agent, run = Agent.objects.get(), Run.objects.get()
    Compaction.objects.create(
        conversation_id=agent.pk,
        run=run,
        first=1,
        last=1,
        tokens_before=9,
        tokens_after=1,
        summary="SECRET",
    )
    api.post(f"{path}/messages", {"input": "Task 2"})
    assert "SECRET" not in str(model_at_once.requests[-1])


def test_the_page_has_a_setting_for_it(agent: Agent) -> None:
    assert "message_buffer_autoclear" in AgentForm(instance=agent).fields


# -- an agent that reflects, and one in another time zone ------------------------------------------


def test_enable_sleeptime_has_an_agent_reflect_by_itself(api: Api) -> None:
    agent = made(api, "memgpt_v2_agent", enable_sleeptime=True)
    assert [tool["name"] for tool in agent["tools"]] == [*MEMGPT, "archival_memory_search"]
    assert agent["enable_sleeptime"]
    row = Agent.objects.get()
    assert row.reflect_every == 5
    row.configure(reflect_every=9)
    path = f"/agents/{agent['id']}"
    assert api.patch(path, {"enable_sleeptime": True})["enable_sleeptime"]
    assert Agent.objects.get().reflect_every == 9, "what a person set stays"
    assert not api.patch(path, {"enable_sleeptime": False})["enable_sleeptime"]
    assert Agent.objects.get().reflect_every is None


def test_searches_read_and_show_dates_in_the_agents_time_zone(
    api: Api, model_at_once: FakeOpenAI
) -> None:
    given = {"tools": ["archival_memory_search"], "timezone": "Asia/Tokyo"}
    agent = made(api, "react_agent", **given)
    path = f"/agents/{agent['id']}"
    assert agent["timezone"] == "Asia/Tokyo"
    sent = {"text": "It rained", "created_at": "2026-01-30T20:00:00Z"}  # the 31st in Tokyo
    api.post(f"{path}/archival-memory", sent)
    for day, found in (("2026-01-30", False), ("2026-01-31", True)):
        search = {"query": "", "start_datetime": day, "end_datetime": day}
        model_at_once.script(calls(("archival_memory_search", search)), text("Done."))
        answer = api.post(f"{path}/messages", {"input": "Did it rain?"})
        returned = next(m for m in answer["messages"] if "tool_return" in m)["tool_return"]
        assert ("2026-01-31T05:00:00+09:00" in returned) is found
        assert ("05:00 JST" in returned) is found
    api.patch(path, {"timezone": "UTC"})
    (detail,) = api.patch(path, {"timezone": "Mars/Olympus"}, expect=422)["detail"]
    assert detail["loc"] == ["body", "timezone"]
