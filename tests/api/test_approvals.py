"""Tool calls that wait, as scripts for Letta see and answer them."""

from __future__ import annotations

import pytest

from agents.models import Approval, Block
from tests.support.api_client import Api, kinds, say
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.waiting import AGAIN, APPEND, answering, approval, call_ids, human


def test_all_calls_of_a_step_that_need_approval_are_asked_about_at_once(
    api: Api, gated: str, model: FakeOpenAI
) -> None:
    model.script(calls(APPEND, AGAIN), text("Done."))
    asked = api.post(f"{gated}/messages", {"input": "I like pie and cake"})
    (request,) = asked["messages"]
    first, second = call_ids(request)
    assert request["message_type"] == "approval_request_message"
    assert request["tool_call"]["tool_call_id"] == first
    agent = api.get(gated)
    assert agent["last_stop_reason"] == "requires_approval"
    assert agent["pending_approval"]["tool_calls"] == request["tool_calls"]
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
    assert asked["usage"]["step_count"] == answer["usage"]["step_count"] == 1
    assert api.get(f"/runs/{request['run_id']}/usage")["step_count"] == 2
    assert "No pie." in answer["messages"][0]["tool_return"]
    assert human() == "Name: Bob\nLikes cake"
    agent = api.get(gated)
    assert (agent["last_stop_reason"], agent["pending_approval"]) == ("end_turn", None)


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
    assert answered[-1]["step_count"] == 1


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
    late = [{"role": "user", "content": "And?"}, *answering(approval(call_id))["messages"]]
    api.post(f"{gated}/messages", {"messages": late}, expect=422)
    blank = [*answering(approval(call_id))["messages"], {"role": "user", "content": " "}]
    api.post(f"{gated}/messages", {"messages": blank}, expect=422)
    assert Approval.objects.get().is_pending


@pytest.mark.parametrize("streamed", [False, True])
def test_a_message_after_an_approval_waits_and_both_are_answered(
    api: Api, gated: str, model: FakeOpenAI, *, streamed: bool
) -> None:
    model.script(calls(APPEND), text("Done."), text("Yes."))
    asked = api.post(f"{gated}/messages", {"input": "I like pie"})
    given = answering(approval(call_ids(asked["messages"][0])[0]))["messages"]
    said = {"messages": [*given, {"role": "user", "content": "Right?", "otid": "right"}]}
    for _ in range(2):  # the second time its answer was lost
        answer = api.post(f"{gated}/messages", {**said, "streaming": streamed})
        found = answer if streamed else answer["messages"]
        assert kinds(found)[:3] == ["tool_return_message", "assistant_message", "assistant_message"]
        assert [each.get("content") for each in found[1:3]] == ["Done.", "Yes."]
        usage = found[-1] if streamed else answer["usage"]
        assert (usage["step_count"], len(usage["run_ids"])) == (2, 2)
        if streamed:
            assert kinds(found)[3:] == ["stop_reason", "usage_statistics"]
    assert model.unused == 0
    assert [each["status"] for each in api.get("/runs/")] == ["completed", "completed"]


def test_a_message_after_an_approval_waits_for_the_next_one_too(
    api: Api, gated: str, model: FakeOpenAI
) -> None:
    model.script(calls(APPEND), calls(AGAIN), text("Done."), text("Yes."))
    asked = api.post(f"{gated}/messages", {"input": "I like pie"})
    given = answering(approval(call_ids(asked["messages"][0])[0]))["messages"]
    said = {"messages": [*given, {"role": "user", "content": "Right?"}]}
    again = api.post(f"{gated}/messages", said)
    assert again["stop_reason"]["stop_reason"] == "requires_approval"
    run = api.post(
        f"{gated}/messages/async", answering(approval(call_ids(again["messages"][-1])[0]))
    )
    assert api.get(f"/runs/{run['id']}")["status"] == "completed"
    assert [each["status"] for each in api.get("/runs/")] == ["completed", "completed"]
    assert api.get(f"{gated}/messages")[-1]["content"] == "Yes."


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


def test_an_answer_that_is_nothing_is_refused(api: Api, path: str) -> None:
    for nothing in (None, 5, "yes"):
        sent = {"messages": [{"type": "approval", "approvals": [nothing]}]}
        api.post(f"{path}/messages", sent, expect=422)
