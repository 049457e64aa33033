"""Messages by the API: sent, answered, streamed, listed, searched, changed; runs and steps."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from agents.api import run_stream, searching
from agents.api.schemas.messages import MessageOptions
from agents.models import Agent, Approval, Message, Run
from tests.support.api_client import ADD, PUSH, Api, execute_at_once
from tests.support.fake_openai import FakeOpenAI, calls, reasoning, status, text, text_and_calls

SENT = "id date message_type name otid sender_id step_id run_id is_err seq_id".split()  # noqa: SIM905


@pytest.fixture
def api(settings: Settings, alice: User, monkeypatch: pytest.MonkeyPatch) -> Api:
    settings.ACCOUNTS = True
    execute_at_once(monkeypatch)
    return Api(alice)


@pytest.fixture
def path(api: Api, model: FakeOpenAI) -> str:
    """Of an agent that talks with send_message."""
    blocks = [{"label": "human", "value": "Name: Bob"}, {"label": "tasks", "value": "[]"}]
    return f"/agents/{api.post('/agents/', {'name': 'Sam', 'memory_blocks': blocks})['id']}"


@pytest.fixture
def plain(api: Api, model: FakeOpenAI) -> str:
    """Of an agent that talks with text."""
    return f"/agents/{api.post('/agents/', {'agent_type': 'letta_v1_agent'})['id']}"


def say(message: str) -> Any:
    return calls(("send_message", {"message": message}))


def kinds(messages: list[dict[str, Any]]) -> list[str]:
    return [message["message_type"] for message in messages]


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


# -- streams ---------------------------------------------------------------------------------------


def test_a_stream_ends_as_the_wire_says(api: Api, path: str, model: FakeOpenAI) -> None:
    model.script(text_and_calls("Greet", ("send_message", {"message": "Hello!"})))
    said = api.post(f"{path}/messages/stream", {"input": "Hi"})
    assert kinds(said) == [
        "reasoning_message",
        "assistant_message",
        "stop_reason",
        "usage_statistics",
    ]
    assert said[1]["content"] == "Hello!"
    assert api.last.headers["Content-Type"].startswith("text/event-stream")
    model.script(say("Again"))
    streaming = api.post(f"{path}/messages", {"input": "Hi", "streaming": True})
    assert kinds(streaming) == ["assistant_message", "stop_reason", "usage_statistics"]


def test_a_broken_stream_goes_on_where_it_broke(api: Api, path: str, model: FakeOpenAI) -> None:
    model.script(
        calls(
            ("core_memory_append", {"label": "human", "content": "x", "request_heartbeat": True})
        ),
        say("Hello!"),
    )
    whole = api.post(f"{path}/messages/stream", {"input": "Hi"})
    run = api.get("/runs/")[0]["id"]
    for place, event in enumerate(whole[:-2]):
        rest = api.post(f"/runs/{run}/stream", {"starting_after": event["seq_id"]})
        assert rest == whole[place + 1 :]
    assert api.post(f"/runs/{run}/stream") == whole


def test_pieces_of_a_draft_are_given_once_and_add_up(agent: Agent, api: Api) -> None:
    """A follower that looks in between: text is there, then more, then the message is whole."""
    from agents.llm import Answer, Delta, default_endpoint
    from agents.memory.context import compile_context
    from agents.runs.loop import begin_step, complete, record_deltas
    from agents.runs.work import Work

    run = Run(agent=agent, key="k", text="Hi", status=Run.Status.RUNNING, attempt=1)
    run.save()
    run.step_list, run.compaction_list, run.message_list = [], [], []
    context = compile_context(agent)
    work = Work(run)
    _, message = begin_step(work, default_endpoint(), "m", context, context.body("m"))
    follower = run_stream.Follower(run, MessageOptions(), tokens=True)
    record_deltas(run, message, [Delta("content", "Hel")], first=True)
    first = follower.more()
    record_deltas(run, message, [Delta("content", "lo, B")], first=False)
    second = follower.more()
    later = run_stream.Follower(run, MessageOptions(), tokens=True, after=second[-1]["seq_id"])
    answer = Answer("Hello, Bob", "")
    complete(work, run.step_list[0], message, answer)
    rest = follower.more()
    assert [each["content"] for each in (*first, *second, *rest[:1])] == ["Hel", "lo, B", "ob"]
    assert {each["id"] for each in (*first, *second, *rest[:1])} == {first[0]["id"]}
    assert later.more() == rest, "and one that begins anew goes on from there"


# -- lists -----------------------------------------------------------------------------------------


def chat(api: Api, path: str, model: FakeOpenAI, count: int) -> list[str]:
    """Some exchanges; the ids of all messages, the system message and then from the oldest on."""
    for number in range(count):
        model.script(text_and_calls(f"think {number}", ("send_message", {"message": f"a{number}"})))
        api.post(f"{path}/messages", {"input": f"q{number}"})
    return [message["id"] for message in api.get(f"{path}/messages?order=asc&limit=1000")]


def test_messages_are_gone_through_both_ways_also_in_the_midst_of_a_row(
    api: Api, path: str, model: FakeOpenAI
) -> None:
    everything = chat(api, path, model, 4)
    assert len(everything) == 13, "a system message; a question, a thought and an answer each"

    def page(query: str) -> list[str]:
        return [message["id"] for message in api.get(f"{path}/messages?{query}")]

    assert page("") == everything
    assert page("limit=2") == everything[-2:], "the newest, oldest first"
    for order, wanted in (("asc", everything), ("desc", everything[::-1])):
        for limit in (1, 2, 5):
            seen: list[str] = []
            while part := page(
                f"limit={limit}&order={order}" + (f"&after={seen[-1]}" if seen else "")
            ):
                seen += part
            assert seen == wanted
            seen = []
            while part := page(
                f"limit={limit}&order={order}&before={seen[0] if seen else wanted[-1]}"
            ):
                seen = part + seen
            assert seen == wanted[:-1]
    assert page(f"limit=2&after={everything[3]}") == everything[4:6]
    assert page(f"limit=2&before={everything[3]}") == everything[1:3]
    assert page(f"after={everything[2]}&before={everything[6]}") == everything[3:6]
    assert page(f"before={everything[0]}") == []
    said = "include_return_message_types=user_message&include_return_message_types=system_message"
    assert page(said) == [everything[0], *everything[1::3]]
    assert page("include_return_message_types=user_message") == everything[1::3]
    assert page("after=message-00000000-0000-4000-8000-0000ffffffff") == []
    api.get(f"{path}/messages?after=nonsense", expect=404)


def test_what_was_said_is_searched(api: Api, path: str, model: FakeOpenAI) -> None:
    model.script(say("Paris is lovely"))
    api.post(f"{path}/messages", {"input": "I was in Paris"})
    agent_id = path.removeprefix("/agents/")
    for asked in ({"query": "paris", "agent_id": agent_id}, {"query": "paris"}):
        found = api.post("/messages/search", asked)
        assert {each["message_type"] for each in found} == {"user_message", "assistant_message"}
        assert all(each["agent_id"] == agent_id for each in found)
        older = api.post("/agents/messages/search", asked)
        assert {each["message"]["id"] for each in older} == {e["message_id"] for e in found}
    assert api.post("/messages/search", {"query": "zebra", "agent_id": agent_id}) == []


def test_all_agents_are_searched_however_many(
    api: Api, path: str, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "SEARCHED", 3)
    said = ["A zebra", "A zebra and a lion", *["Nothing but a lion"] * 5]
    agents = [api.post("/agents/", {"name": text})["id"] for text in said]
    for agent_id, content in zip(agents, said, strict=True):
        agent = Agent.objects.get(pk=agent_id.removeprefix("agent-"))
        agent.messages.create(role="user", content=content, number=1)
    other = Agent.objects.create(owner=bob, name="Other")
    other.messages.create(role="user", content="A zebra of mine", number=1)

    def found(query: str) -> list[str]:
        return [each["content"] for each in api.post("/messages/search", {"query": query})]

    assert sorted(found("zebra")) == said[:2], "also in those that are not among the newest"
    assert found("zebra lion")[0] == "A zebra and a lion"
    assert len(found("")) == 3
    api.delete(f"/agents/{agents[0]}")
    assert found("zebra") == [said[1]]


# -- changing --------------------------------------------------------------------------------------


def test_a_message_of_the_past_is_changed_and_the_model_sees_it_so(
    api: Api, path: str, model: FakeOpenAI
) -> None:
    system, first, *_ = chat(api, path, model, 1)
    changed = api.patch(f"{path}/messages/{first}", {"content": "rewritten"})
    assert (changed["id"], changed["content"]) == (first, "rewritten")
    model.script(say("OK"))
    api.post(f"{path}/messages", {"input": "And?"})
    assert model.requests[-1]["messages"][1]["content"] == "rewritten"
    for given in ({}, {"content": ""}, {"content": 1}):
        api.patch(f"{path}/messages/{first}", given, expect=422)
    api.patch(f"{path}/messages/message-1", {"content": "x"}, expect=404)
    api.patch(f"{path}/messages/{system}", {"content": "x"}, expect=409)


def test_the_system_message_is_the_first_of_all(api: Api, path: str, model: FakeOpenAI) -> None:
    assert kinds(api.get(f"{path}/messages")) == ["system_message"]
    everything = chat(api, path, model, 2)
    first = api.get(f"{path}/messages")[0]
    assert everything[0] == first["id"] == api.get(path)["message_ids"][0]
    model.script(say("OK"))
    api.post(f"{path}/messages", {"input": "And?"})
    again = api.get(f"{path}/messages?order=asc&limit=1")
    assert [message["id"] for message in again] == [first["id"]]
    assert again[0]["message_type"] == "system_message"
    sent = model.requests[-1]["messages"][0]["content"]
    now, was = (text.partition("<memory_metadata>") for text in (again[0]["content"], sent))
    assert (now[0], "Name: Bob" in now[0]) == (was[0], True)
    assert kinds(api.get(f"{path}/messages?limit=2"))[0] != "system_message"
    other = api.post("/agents/", {"memory_blocks": []})["id"]
    assert api.get(f"/agents/{other}/messages?after={first['id']}", expect=404)


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
    assert "2 messages wait for this agent already" in told
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
    assert "approval" in api.post(f"{path}/messages", {"input": "Hello?"}, expect=409)["detail"]
    request = asked["messages"][0]
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
    api.post(f"{path}/messages", {"messages": [given]}, expect=409)


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
