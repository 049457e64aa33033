"""Runs by the API: cancelled, reset, approved; their steps and requests."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import Settings

from agents.models import Approval, Message, Run
from tests.support.api_client import Api, chat, kinds, say
from tests.support.fake_openai import FakeOpenAI, calls


def test_an_agent_is_reset(api: Api, path: str, model: FakeOpenAI) -> None:
    chat(api, path, model, 2)
    assert len(api.patch(f"{path}/reset-messages", {})["message_ids"]) == 1
    assert kinds(api.get(f"{path}/messages")) == ["system_message"]
    assert api.get("/runs/") == []
    model.script(say("New"))
    api.post(f"{path}/messages", {"input": "Hello again"})
    assert [m["content"] for m in model.requests[-1]["messages"][1:]] == ["Hello again"]
    assert len(api.get(f"{path}/messages")) == 3


def test_runs_are_cancelled(
    api: Api, path: str, model: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.runs.engine.submit", lambda run: None)
    one, two, three = (api.post(f"{path}/messages/async", {"input": f"{n}"}) for n in range(3))
    assert [one["status"], two["status"]] == ["running", "created"]
    assert api.post(f"{path}/messages/cancel", {"run_ids": [two["id"]]}) == {two["id"]: "cancelled"}
    assert set(api.post(f"{path}/messages/cancel")) == {one["id"], three["id"]}
    assert Run.objects.get().stop_requested
    api.patch(f"{path}/reset-messages", {}, expect=409)


def test_a_full_queue_is_told_with_how_long_to_wait(
    api: Api, path: str, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    monkeypatch.setattr("agents.runs.engine.submit", lambda run: None)
    settings.QUEUE_LIMIT = 2
    for key in ("one", "two", "three"):
        api.post(f"{path}/messages/async", {"input": "Hi"}, idempotency_key=key)
    told = api.post(f"{path}/messages/async", {"input": "Hi"}, expect=429)["detail"]
    assert "2 messages already wait in this conversation" in told
    assert int(api.last.headers["Retry-After"]) > 0
    api.post(f"{path}/messages/async", {"input": "Hi"}, idempotency_key="three")  # it has that
    assert Run.objects.count() == 3


# -- approvals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("yes", [True, False])
def test_a_call_that_needs_approval_waits_for_it(
    api: Api, path: str, model: FakeOpenAI, yes: bool
) -> None:
    api.patch(f"{path}/tools/approval/core_memory_append", {"requires_approval": True})
    append = {"label": "human", "content": "Likes pie", "request_heartbeat": True}
    model.script(calls(("core_memory_append", append)), say("Done"))
    asked = api.post(f"{path}/messages", {"input": "I like pie"})
    assert kinds(asked["messages"]) == ["approval_request_message"]
    assert asked["stop_reason"]["stop_reason"] == "requires_approval"
    refusal = api.post(f"{path}/messages", {"input": "Hello?"}, expect=409)["detail"]
    request = asked["messages"][0]
    assert (refusal["code"], refusal["pending_request_id"]) == ("PENDING_APPROVAL", request["id"])
    word = {"tool_call_id": request["tool_call"]["tool_call_id"], "approve": yes, "reason": "So."}
    given: dict[str, Any] = {"type": "approval", "approvals": [word]}
    if yes:
        given = {"type": "approval", "approve": True, "approval_request_id": request["id"]}
    answer = api.post(f"{path}/messages", {"messages": [given]})
    assert answer["stop_reason"]["stop_reason"] == "end_turn"
    assert answer["messages"][-1]["content"] == "Done"
    value = api.get(f"{path}/core-memory/blocks/human")["value"]
    assert value == ("Name: Bob\nLikes pie" if yes else "Name: Bob")
    assert Approval.objects.get().decided_by is not None
    assert api.post(f"{path}/messages", {"messages": [given]}) == answer  # its answer got lost
    other = {**given, "approve": not yes, "approval_request_id": request["id"], "approvals": None}
    assert (
        "answered already"
        in api.post(f"{path}/messages", {"messages": [other]}, expect=409)["detail"]
    )


# -- runs and steps --------------------------------------------------------------------------------


def test_runs_and_steps_are_looked_at_with_what_was_sent(
    api: Api, path: str, model: FakeOpenAI
) -> None:
    chat(api, path, model, 2)
    agent_id = path.removeprefix("/agents/")
    newest, oldest = api.get(f"/runs/?agent_id={agent_id}")
    assert (newest["status"], newest["stop_reason"]) == ("completed", "end_turn")
    assert api.get(f"/runs/{newest['id']}") == newest
    assert api.get("/runs/?statuses=failed") == api.get("/runs/active") == []
    assert api.get(f"/runs/?limit=1&after={newest['id']}") == [oldest]
    assert api.get(f"/runs/?after={oldest['id']}") == []
    assert kinds(api.get(f"/runs/{oldest['id']}/messages")) == [
        "user_message",
        "reasoning_message",
        "assistant_message",
    ]
    (step,) = api.get(f"/runs/{oldest['id']}/steps")
    assert step == api.get("/steps/?order=asc&limit=1")[0] == api.get(f"/steps/{step['id']}")
    assert step["status"] == "success"
    assert step["total_tokens"] == api.get(f"/runs/{oldest['id']}/usage")["total_tokens"]
    assert len(api.get(f"/steps/{step['id']}/messages")) == 2
    assert api.get(f"/steps/{step['id']}/metrics")["step_ns"] > 0
    trace = api.get(f"/steps/{step['id']}/trace")
    assert trace["proven"]
    assert trace["request_json"] == model.requests[0]
    assert trace["response_json"]["tool_calls"][0]["name"] == "send_message"
    assert api.get(f"/telemetry/{step['id']}") == trace
    api.delete(f"/runs/{oldest['id']}", expect=409)
    assert Message.objects.count() == 6


@pytest.mark.parametrize(
    "address",
    ["/runs/{}", "/runs/{}/messages", "/runs/{}/steps", "/runs/{}/usage", "/steps/{}",
     "/steps/{}/messages", "/steps/{}/metrics", "/steps/{}/trace", "/telemetry/{}"],
)  # fmt: skip
def test_what_is_not_there_is_not_found(api: Api, address: str) -> None:
    noun = "run" if address.startswith("/runs") else "step"
    for given in (f"{noun}-00000000-0000-4000-8000-0000000000ff", "nonsense", "7"):
        assert given in api.get(address.format(given), expect=404)["detail"]
