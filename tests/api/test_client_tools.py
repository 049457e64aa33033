"""Client-side tools: a script brings them along with its message, and runs them itself."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from agents.memory import sent_requests
from agents.models import Approval, Message, Run, Step
from tests.support.api_client import Api, kinds, say
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.waiting import (
    AGAIN,
    APPEND,
    NOTES,
    READ,
    answering,
    approval,
    call_ids,
    human,
    returned,
)


@pytest.mark.parametrize("form", ["approval", "tool_return"])
def test_a_script_runs_its_own_tool_and_the_run_goes_on(
    api: Api, plain: str, model: FakeOpenAI, form: str
) -> None:
    model.script(calls(READ), text("It says hello."))
    sent = {"input": "What do my notes say?", "client_tools": [NOTES]}
    asked = api.post(f"{plain}/messages", sent)
    assert asked["stop_reason"]["stop_reason"] == "requires_approval"
    (call_id,) = call_ids(asked["messages"][0])
    assert asked["messages"][0]["tool_call"]["arguments"] == '{"path": "notes.txt"}'
    offered = model.requests[0]["tools"][-1]["function"]
    assert offered == NOTES
    (step,) = Step.objects.all()
    request = sent_requests.sent(step)
    assert request
    assert request.proven
    assert '"read_file"' in request.context.tools
    value = returned(call_id, "hello", stdout=["opened"], stderr=["slow"])
    given: dict[str, Any] = answering(value)
    if form == "tool_return":
        given = {"messages": [{"type": "tool_return", "tool_returns": [value]}]}
    answer = api.post(f"{plain}/messages", given)
    assert kinds(answer["messages"]) == ["tool_return_message", "assistant_message"]
    shown = answer["messages"][0]
    assert (shown["tool_return"], shown["status"]) == ("hello", "success")
    assert (shown["stdout"], shown["stderr"]) == (["opened"], ["slow"])
    assert model.requests[1]["messages"][-1]["content"] == "hello"
    assert [t["function"]["name"] for t in model.requests[1]["tools"]][-1] == "read_file"
    listed = next(m for m in api.get(f"{plain}/messages") if "approvals" in m)
    assert listed["approvals"] == [value]
    model.script(text("Hi."))
    api.post(f"{plain}/messages", {"input": "Hello"})  # they belonged to that run
    assert "read_file" not in str(model.requests[-1].get("tools"))


def test_a_script_s_tool_takes_the_place_of_the_agent_s(
    api: Api, gated: str, model: FakeOpenAI
) -> None:
    own = {**NOTES, "name": "core_memory_append"}
    model.script(calls(("core_memory_append", {"path": "x"})), text("Done."))
    asked = api.post(f"{gated}/messages", {"input": "Hi", "client_tools": [own]})
    offered = [tool["function"] for tool in model.requests[0]["tools"]]
    assert [tool for tool in offered if tool["name"] == own["name"]] == [own]
    (call_id,) = call_ids(asked["messages"][0])
    assert (
        "script"
        in api.post(f"{gated}/messages", answering(approval(call_id)), expect=400)["detail"]
    )
    api.post(f"{gated}/messages", answering(returned(call_id, "kept", "error")))
    returns = Message.objects.get(role="tool")
    assert (returns.content, returns.is_error) == ("kept", True)
    assert human() == "Name: Bob"


def test_a_script_may_return_what_it_was_only_asked_to_approve_or_refuse_its_own_tool(
    api: Api, gated: str, model: FakeOpenAI
) -> None:
    model.script(calls(APPEND, READ), text("Done."))
    asked = api.post(f"{gated}/messages", {"input": "Hi", "client_tools": [NOTES]})
    append, read = call_ids(asked["messages"][0])
    given = answering(
        returned(append, "Written elsewhere."), approval(read, approve=False, reason="Private.")
    )
    answer = api.post(f"{gated}/messages", given)
    said = [m["tool_return"] for m in answer["messages"][:2]]
    assert said == ["Written elsewhere.", "Error: not run, because the script refused it: Private."]
    assert human() == "Name: Bob"


def test_calls_beside_a_script_s_tool_run_in_order_once_it_returned(
    api: Api, path: str, model: FakeOpenAI
) -> None:
    append = (APPEND[0], {**APPEND[1], "request_heartbeat": True})
    model.script(calls(append, READ, (AGAIN[0], {**AGAIN[1], "request_heartbeat": False})))
    asked = api.post(f"{path}/messages", {"input": "Hi", "client_tools": [NOTES]})
    assert kinds(asked["messages"]) == [
        "tool_call_message",
        "approval_request_message",
        "tool_call_message",
    ]
    assert human() == "Name: Bob"  # nothing runs before all is answered
    model.script(say("Done."))
    answer = api.post(
        f"{path}/messages", answering(returned(call_ids(asked["messages"][1])[0], "hello"))
    )
    assert kinds(answer["messages"]) == [*["tool_return_message"] * 3, "assistant_message"]
    assert [m["name"] for m in answer["messages"][:3]] == [
        "core_memory_append",
        "read_file",
        "core_memory_append",
    ]
    assert human() == "Name: Bob\nLikes pie\nLikes cake"


def test_an_agent_that_talks_by_a_tool_goes_on_after_a_script_s_return(
    api: Api, path: str, model: FakeOpenAI
) -> None:
    model.script(calls(READ), say("It says hello."))
    asked = api.post(f"{path}/messages", {"input": "Hi", "client_tools": [NOTES]})
    offered = model.requests[0]["tools"][-1]["function"]
    assert "request_heartbeat" not in offered["parameters"]["properties"]
    answer = api.post(
        f"{path}/messages", answering(returned(call_ids(asked["messages"][0])[0], "hello"))
    )
    assert answer["messages"][-1]["content"] == "It says hello."


def test_new_client_tools_with_a_return_replace_the_run_s(
    api: Api, plain: str, model: FakeOpenAI
) -> None:
    model.script(calls(READ), text("Done."))
    asked = api.post(f"{plain}/messages", {"input": "Hi", "client_tools": [NOTES]})
    other = {"name": "write_file", "description": None, "parameters": None}
    given = answering(returned(call_ids(asked["messages"][0])[0], "hello"))
    api.post(f"{plain}/messages", {**given, "client_tools": [other]})
    offered = [t["function"]["name"] for t in model.requests[1]["tools"]]
    assert ("read_file" in offered, "write_file" in offered) == (False, True)


def test_arguments_that_are_no_json_are_answered_and_the_script_is_not_asked(
    api: Api, plain: str, model: FakeOpenAI
) -> None:
    model.script(calls(("read_file", "{nonsense")), text("Sorry."))
    answer = api.post(f"{plain}/messages", {"input": "Hi", "client_tools": [NOTES]})
    assert "are not JSON" in answer["messages"][1]["tool_return"]
    assert not Approval.objects.exists()


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ([{"name": "two words"}], "pattern"),
        ([{"name": "a"}, {"name": "a"}], "same name"),
        ([{"name": "a", "parameters": {"type": "string"}}], "type 'object'"),
        ([{"name": "a", "description": "x" * 200_001}], "more than 200,000 characters"),
        ([{"name": "send_message"}], "give yours another name"),
    ],
)
def test_client_tools_that_cannot_be_offered_are_refused(
    api: Api, path: str, tools: Any, words: str
) -> None:
    sent = {"input": "Hi", "client_tools": tools}
    assert words in str(api.post(f"{path}/messages", sent, expect=422)["detail"])
    assert not Run.objects.exists()


def test_a_script_that_returns_nothing_in_time_is_not_waited_for(
    api: Api, plain: str, model: FakeOpenAI
) -> None:
    model.script(calls(READ), text("I could not read it."))
    run = api.post(f"{plain}/messages/async", {"input": "Hi", "client_tools": [NOTES]})
    Approval.objects.update(expires_at=timezone.now())
    assert Approval.objects.all().expire() == 1
    messages = api.get(f"/runs/{run['id']}/messages")
    assert "gave none in time" in messages[-2]["tool_return"]
    assert "gave none in time" in messages[2]["approvals"][0]["reason"]
    assert messages[-1]["content"] == "I could not read it."
    late = answering(returned(call_ids(messages[1])[0], "hello"))
    assert "answered already" in api.post(f"{plain}/messages", late, expect=409)["detail"]


def test_a_run_that_waits_for_its_script_can_be_stopped(
    api: Api, plain: str, model: FakeOpenAI
) -> None:
    model.script(calls(READ))
    run = api.post(f"{plain}/messages/async", {"input": "Hi", "client_tools": [NOTES]})
    api.post(f"{plain}/messages/cancel", {"run_ids": [run["id"]]})
    assert api.get(f"/runs/{run['id']}")["status"] == "cancelled"
    assert Approval.objects.get().status == "stopped"
    assert "stopped the agent" in Message.objects.get(role="tool").content
