"""Messages by the API: sent, answered, refused, sent again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pytest_django import Settings

from agents.models import Run
from tests.support.api_client import ADD, PUSH, Api, kinds, say
from tests.support.fake_openai import FakeOpenAI, calls, reasoning, status, text, text_and_calls

SENT = "id date message_type name otid sender_id step_id run_id is_err seq_id".split()  # noqa: SIM905


# -- conversion ------------------------------------------------------------------------------------


def test_send_message_is_one_assistant_message(api: Api, path: str, model: FakeOpenAI) -> None:
    model.script(
        text_and_calls(
            "I should note that",
            ("core_memory_append", {"label": "human", "content": "x", "request_heartbeat": True}),
        ),
        text_and_calls("Now greet", ("send_message", {"message": "Hello!"})),
    )
    answer = api.post(f"{path}/messages", {"messages": [{"role": "user", "content": "Hi"}]})
    said = answer["messages"]
    assert kinds(said) == [
        "reasoning_message",
        "tool_call_message",
        "tool_return_message",
        "reasoning_message",
        "assistant_message",
    ]
    assert [said[0]["reasoning"], said[3]["reasoning"]] == ["I should note that", "Now greet"]
    assert said[0]["source"] == "non_reasoner_model"
    assert said[1]["tool_call"]["name"] == said[2]["name"] == "core_memory_append"
    assert json.loads(said[1]["tool_call"]["arguments"])["content"] == "x"
    assert said[2]["tool_call_id"] == said[1]["tool_call"]["tool_call_id"]
    assert (said[2]["status"], said[4]["content"]) == ("success", "Hello!")
    assert all(list(message)[: len(SENT)] == SENT for message in said)
    assert len({message["id"] for message in said}) == len(said)
    assert answer["stop_reason"] == {"message_type": "stop_reason", "stop_reason": "end_turn"}
    usage = answer["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"] > 0
    assert usage["step_count"] == 2


def test_send_message_can_be_shown_as_the_call_it_is(
    api: Api, path: str, model: FakeOpenAI
) -> None:
    model.script(say("Hello!"))
    asked = {"input": "Hi", "use_assistant_message": False}
    said = api.post(f"{path}/messages", asked)["messages"]
    assert kinds(said) == ["tool_call_message", "tool_return_message"]
    wanted = api.get(f"{path}/messages?include_return_message_types=user_message")
    assert kinds(wanted) == ["user_message"]


def test_a_failed_call_is_shown_with_its_error(api: Api, path: str, model: FakeOpenAI) -> None:
    model.script(calls(("send_message", {"wrong": 1})), say("Sorry"))
    said = api.post(f"{path}/messages", {"input": "Hi"})["messages"]
    assert kinds(said) == ["tool_call_message", "tool_return_message", "assistant_message"]
    assert said[1]["status"] == "error"
    assert said[1]["stderr"] == [said[1]["tool_return"]]


def test_what_a_model_thinks_and_a_tool_prints_is_shown(
    api: Api, plain: str, model: FakeOpenAI
) -> None:
    tool = api.put("/tools/", {"source_code": ADD})
    api.patch(f"{plain}/tools/attach/{tool['id']}")
    model.script(calls(("add", {"a": 1, "b": 2})), reasoning("Hm.", text("Done")))
    said = api.post(f"{plain}/messages", {"input": "Hi"})["messages"]
    assert kinds(said)[1:] == ["tool_return_message", "reasoning_message", "assistant_message"]
    assert (said[1]["tool_return"], "".join(said[1]["stdout"]).strip()) == ("3", "adding")
    assert (said[2]["reasoning"], said[2]["source"]) == ("Hm.", "reasoner_model")


def test_two_pushes_in_one_turn_leave_both_tasks(api: Api, path: str, model: FakeOpenAI) -> None:
    tool = api.put("/tools/", {"source_code": PUSH})
    api.patch(f"{path}/tools/attach/{tool['id']}")
    model.script(
        calls(
            ("task_queue_push", {"task_description": "one", "request_heartbeat": True}),
            ("task_queue_push", {"task_description": "two", "request_heartbeat": True}),
        ),
        say("Both are noted"),
    )
    api.post(f"{path}/messages", {"input": "Two tasks"})
    assert api.get(f"{path}/core-memory/blocks/tasks")["value"] == '["one", "two"]'


# -- sending ---------------------------------------------------------------------------------------


def test_several_messages_of_several_roles_are_one_run(
    api: Api, path: str, model: FakeOpenAI, settings: Settings
) -> None:
    settings.OPENAI_BASE_URL += "#roles=free"  # else a system message is told in another way
    model.script(say("Yes"))
    given = [
        {"role": "system", "content": "Be brief"},
        {"role": "user", "content": [{"type": "text", "text": "Hello"}]},
        {"role": "user", "content": "There?"},
    ]
    api.post(f"{path}/messages", {"messages": given})
    sent = [(m["role"], m["content"]) for m in model.requests[-1]["messages"][1:]]
    assert sent == [("system", "Be brief"), ("user", "Hello"), ("user", "There?")]
    assert kinds(api.get(f"{path}/messages"))[1:4] == [
        "system_message",
        "user_message",
        "user_message",
    ]
    assert Run.objects.count() == 1


def test_a_request_has_a_limit_of_steps_of_its_own(api: Api, plain: str, model: FakeOpenAI) -> None:
    search = calls(("conversation_search", {"query": "x"}))
    model.script(search, search, search)
    answer = api.post(f"{plain}/messages", {"input": "Go", "max_steps": 2})
    assert answer["stop_reason"]["stop_reason"] == "max_steps"
    assert answer["usage"]["step_count"] == 2


REFUSED = [
    {},
    {"messages": []},
    {"messages": [{"role": "user"}]},
    {"messages": [{"role": "user", "content": ""}]},
    {"messages": [{"role": "tool", "content": "x"}]},
    {"messages": [{"role": "user", "content": [{"type": "image", "source": {}}]}]},
    {"messages": [{"role": "user", "content": [{"type": "text"}]}]},
    {"messages": [{"type": "tool_return", "content": "x"}]},
    {"messages": "Hi"},
    {"input": 7},
    {"input": " \n "},
    {"input": "x" * 100_001},
    {"input": "Hi", "max_steps": 0},
]


@pytest.mark.parametrize("given", REFUSED)
@pytest.mark.parametrize("way", ["messages", "messages/stream", "messages/async"])
def test_a_message_that_cannot_be_is_refused(api: Api, path: str, way: str, given: Any) -> None:
    assert api.post(f"{path}/{way}", given, expect=422)["detail"][0]["msg"]
    assert not Run.objects.exists()


def test_a_model_that_fails_is_told_and_not_asked_again(
    api: Api, path: str, model: FakeOpenAI
) -> None:
    model.script(status(400, "no such thing"))
    refusal = api.post(f"{path}/messages", {"input": "Hi"}, expect=502)
    assert "no such thing" in refusal["detail"]
    assert api.last.headers["x-should-retry"] == "false"
    assert api.get(f"{path}/messages")[1]["content"] == "Hi"
    model.script(status(400, "no such thing"))
    said = api.post(f"{path}/messages/stream", {"input": "Hi"})
    assert kinds(said) == ["error_message", "stop_reason", "usage_statistics"]
    assert (said[0]["run_id"], said[1]["stop_reason"]) == (api.get("/runs/")[0]["id"], "error")


# -- the same request again ------------------------------------------------------------------------


def test_the_same_key_and_request_give_the_same_run(api: Api, path: str, model: FakeOpenAI) -> None:
    model.script(say("Once"))
    first = api.post(f"{path}/messages", {"input": "Hi"}, idempotency_key="k1")
    again = api.post(f"{path}/messages", {"input": "Hi"}, idempotency_key="k1")
    assert again == first
    assert Run.objects.count() == 1
    refusal = api.post(f"{path}/messages", {"input": "Other"}, idempotency_key="k1", expect=409)
    assert "Idempotency-Key" in refusal["detail"]
    model.script(say("Twice"))
    api.post(f"{path}/messages", {"input": "Hi"}, idempotency_key="k2")
    assert Run.objects.count() == 2


def test_a_message_of_the_same_otid_is_sent_once(api: Api, path: str, model: FakeOpenAI) -> None:
    model.script(say("Once"))
    given = {"messages": [{"role": "user", "content": "Hi", "otid": "o-1"}]}
    assert api.post(f"{path}/messages", given) == api.post(f"{path}/messages", given)
