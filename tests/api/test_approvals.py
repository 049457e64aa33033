"""Tool calls that wait, as scripts for Letta see and answer them."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from agents.memory import sent_requests
from agents.models import Approval, Block, Message, Run, Step
from tests.support.api_client import Api, kinds, say
from tests.support.fake_openai import FakeOpenAI, calls, text

APPEND = ("core_memory_append", {"label": "human", "content": "Likes pie"})
AGAIN = ("core_memory_append", {"label": "human", "content": "Likes cake"})
READ = ("read_file", {"path": "notes.txt"})
NOTES = {
    "name": "read_file",
    "description": "Read a file of the person's computer.",
    "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
}


def human() -> str:
    return Block.objects.get(label="human").value


def call_ids(message: dict[str, Any]) -> list[str]:
    return [call["tool_call_id"] for call in message["tool_calls"]]


def approval(call_id: str, *, approve: bool = True, **more: Any) -> dict[str, Any]:
    return {"type": "approval", "tool_call_id": call_id, "approve": approve, **more}


def returned(call_id: str, text: str, status: str = "success", **more: Any) -> dict[str, Any]:
    return {"type": "tool", "tool_call_id": call_id, "tool_return": text, "status": status, **more}


def answering(*approvals: dict[str, Any]) -> dict[str, Any]:
    return {"messages": [{"type": "approval", "approvals": approvals}]}


@pytest.fixture
def gated(api: Api, plain: str) -> str:
    """Of an agent that talks with text, and whose appends to memory need approval."""
    api.patch(plain, {"tool_ids": [api.get("/tools/?name=core_memory_append")[0]["id"]]})
    block = api.post("/blocks/", {"label": "human", "value": "Name: Bob"})
    api.patch(f"{plain}/core-memory/blocks/attach/{block['id']}")
    api.patch(f"{plain}/tools/approval/core_memory_append", {"requires_approval": True})
    return plain


# -- approvals -------------------------------------------------------------------------------------


def test_all_calls_of_a_step_that_need_approval_are_asked_about_at_once(
    api: Api, gated: str, model: FakeOpenAI
) -> None:
    model.script(calls(APPEND, AGAIN), text("Done."))
    asked = api.post(f"{gated}/messages", {"input": "I like pie and cake"})
    (request,) = asked["messages"]
    first, second = call_ids(request)
    assert request["message_type"] == "approval_request_message"
    assert request["tool_call"]["tool_call_id"] == first
    assert api.get(gated)["last_stop_reason"] == "requires_approval"
    assert [each["id"] for each in api.get("/agents/?last_stop_reason=requires_approval")]
    assert api.get("/agents/?last_stop_reason=end_turn") == []
    run = api.get(f"/runs/{request['run_id']}")
    assert (run["status"], run["stop_reason"]) == ("completed", "requires_approval")
    assert run["completed_at"]
    assert human() == "Name: Bob"
    answer = api.post(
        f"{gated}/messages",
        answering(approval(second), approval(first, approve=False, reason="No pie.")),
    )
    assert kinds(answer["messages"]) == [
        "tool_return_message",
        "tool_return_message",
        "assistant_message",
    ]
    assert [m["tool_call_id"] for m in answer["messages"][:2]] == [first, second]
    assert "No pie." in answer["messages"][0]["tool_return"]
    assert human() == "Name: Bob\nLikes cake"
    assert api.get(gated)["last_stop_reason"] == "end_turn"


def test_lists_keep_what_was_asked_and_what_was_answered(
    api: Api, gated: str, model: FakeOpenAI
) -> None:
    model.script(calls(APPEND, AGAIN), text("Done."))
    asked = api.post(f"{gated}/messages", {"input": "I like pie and cake"})
    first, second = call_ids(asked["messages"][0])
    given = [approval(first, approve=False, reason="No pie."), approval(second)]
    api.post(f"{gated}/messages", answering(*given))
    listed = api.get(f"{gated}/messages")
    assert kinds(listed) == [
        "system_message",
        "user_message",
        "approval_request_message",
        "approval_response_message",
        "tool_return_message",
        "tool_return_message",
        "assistant_message",
    ]
    response = listed[3]
    assert response["approvals"] == [given[0], approval(second, reason=None)]
    assert (response["approve"], response["approval_request_id"]) == (False, first)
    assert response["reason"] == "No pie."
    assert listed[2] | {"seq_id": None} == asked["messages"][0] | {"seq_id": None}
    pages = [listed[0]]
    while page := api.get(f"{gated}/messages?limit=1&order=asc&after={pages[-1]['id']}"):
        pages += page
    assert pages == listed
    run = api.get(f"/runs/{response['run_id']}/messages")
    assert kinds(run)[1:3] == ["approval_request_message", "approval_response_message"]


def test_a_stream_has_the_request_and_ends_and_the_next_one_has_what_came_of_it(
    api: Api, gated: str, model: FakeOpenAI
) -> None:
    model.script(calls(APPEND), text("Done."))
    asked = api.post(f"{gated}/messages/stream", {"input": "I like pie", "stream_tokens": True})
    assert kinds(asked) == ["approval_request_message", "stop_reason", "usage_statistics"]
    (call_id,) = call_ids(asked[0])
    given = answering(approval(call_id))
    answered = api.post(f"{gated}/messages/stream", {**given, "stream_tokens": True})
    assert kinds(answered) == [
        "tool_return_message",
        "assistant_message",
        "stop_reason",
        "usage_statistics",
    ]


def test_a_block_that_asks_shows_its_request_when_the_call_is_made(
    api: Api, plain: str, model: FakeOpenAI
) -> None:
    api.patch(plain, {"tool_ids": [api.get("/tools/?name=core_memory_append")[0]["id"]]})
    block = api.post("/blocks/", {"label": "human", "value": "Name: Bob"})
    api.patch(f"{plain}/core-memory/blocks/attach/{block['id']}")
    Block.objects.get().configure(ask_before_write=True)
    model.script(calls(APPEND, AGAIN), text("Done."), text("Hello."))
    asked = api.post(f"{plain}/messages/stream", {"input": "I like pie and cake"})
    assert asked[0]["message_type"] == "approval_request_message"
    given = answering(approval(call_ids(asked[0])[0]))
    second = api.post(f"{plain}/messages", given)
    assert kinds(second["messages"])[-1] == "approval_request_message"
    last = answering(approval(call_ids(second["messages"][-1])[0]))
    assert api.post(f"{plain}/messages", last)["messages"][-1]["content"] == "Done."
    assert human() == "Name: Bob\nLikes pie\nLikes cake"


@pytest.mark.parametrize("which", ["other", "too few", "too many"])
def test_wrong_ids_are_refused_and_nothing_is_decided(
    api: Api, gated: str, model: FakeOpenAI, which: str
) -> None:
    model.script(calls(APPEND, AGAIN))
    asked = api.post(f"{gated}/messages", {"input": "I like pie and cake"})
    right = call_ids(asked["messages"][0])
    named = {"other": ["call_x", "call_y"], "too few": right[:1], "too many": [*right, "call_x"]}
    given = answering(*map(approval, named[which]))
    refusal = api.post(f"{gated}/messages", given, expect=400)["detail"]
    assert refusal == (f"Invalid tool call IDs. Expected '{right}', but received '{named[which]}'.")
    assert Approval.objects.pending().count() == 2


def test_an_approval_of_nothing_is_refused(api: Api, gated: str, model: FakeOpenAI) -> None:
    refusal = api.post(f"{gated}/messages", answering(approval("call_1")), expect=400)["detail"]
    assert "No tool call is currently awaiting approval" in refusal
    empty = {"messages": [{"type": "approval", "approve": True}]}
    model.script(calls(APPEND))
    api.post(f"{gated}/messages", {"input": "I like pie"})
    assert "approvals" in api.post(f"{gated}/messages", empty, expect=400)["detail"]
    (call_id,) = call_ids(api.get(f"{gated}/messages")[-1])
    both = answering(approval(call_id))["messages"] + [{"role": "user", "content": "And?"}]
    api.post(f"{gated}/messages", {"messages": both}, expect=422)
    assert Approval.objects.get().is_pending


def test_the_older_form_names_the_request_or_the_call(
    api: Api, gated: str, model: FakeOpenAI
) -> None:
    for name in ("request", "call"):
        model.script(calls(APPEND), text("Done."))
        asked = api.post(f"{gated}/messages", {"input": "I like pie"})["messages"][0]
        named = asked["id"] if name == "request" else call_ids(asked)[0]
        given = {"approve": False, "approval_request_id": named, "reason": "No."}
        answer = api.post(f"{gated}/messages", {"messages": [given]})
        assert "No." in answer["messages"][0]["tool_return"]


def test_a_run_in_the_background_is_approved_and_shows_what_its_script_wanted(
    api: Api, gated: str, model: FakeOpenAI
) -> None:
    model.script(calls(APPEND), text("Done."))
    only = {"include_return_message_types": ["approval_request_message"]}
    run = api.post(f"{gated}/messages/async", {"input": "I like pie", **only})
    run = api.get(f"/runs/{run['id']}")
    assert (run["status"], run["stop_reason"]) == ("completed", "requires_approval")
    (request,) = api.get(f"/runs/{run['id']}/messages")
    assert request["message_type"] == "approval_request_message"
    assert api.get(f"/runs/{run['id']}")["request_config"] == {
        "use_assistant_message": True,
        "assistant_message_tool_name": "send_message",
        "assistant_message_tool_kwarg": "message",
        **only,
    }
    assert api.get("/runs/?active=true") == []
    assert api.get("/runs/?stop_reason=requires_approval") == [api.get(f"/runs/{run['id']}")]
    only = {"include_return_message_types": ["assistant_message"]}
    given = answering(approval(call_ids(request)[0]))
    again = api.post(f"{gated}/messages/async", {**given, **only})
    assert (again["id"], again["stop_reason"]) == (run["id"], "end_turn")
    assert kinds(api.get(f"/runs/{run['id']}/messages")) == ["assistant_message"]


def test_a_message_that_waited_for_approval_is_shown_once_it_was_sent(
    api: Api, path: str, model: FakeOpenAI
) -> None:
    api.patch(f"{path}/tools/approval/send_message", {"requires_approval": True})
    model.script(say("Hello!"))
    asked = api.post(f"{path}/messages", {"input": "Hi"})
    assert kinds(asked["messages"]) == ["approval_request_message"]
    given = answering(approval(call_ids(asked["messages"][0])[0]))
    answer = api.post(f"{path}/messages", given)
    assert [m["content"] for m in answer["messages"]] == ["Hello!"]


# -- client-side tools -----------------------------------------------------------------------------


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
    assert said == [
        "Written elsewhere.",
        "Error: not run, because the script refused it: Private.",
    ]
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
