"""Streams by the API: how they end, and how they continue."""

from __future__ import annotations

from agents.api import run_stream
from agents.api.schemas.messages import MessageOptions
from agents.models import Agent, Run
from tests.support.api_client import Api, kinds, say
from tests.support.fake_openai import FakeOpenAI, calls, text_and_calls
from tests.support.stored import of

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
    from agents.llm.spending import Spending
    from agents.memory.context import compile_context
    from agents.runs.loop import begin_step, complete
    from agents.runs.streaming import Draft
    from agents.runs.work import Work

    run = Run(**of(agent), key="k", text="Hi", status=Run.Status.RUNNING, attempt=1)
    run.conversation = agent.first_conversation
    run.save()
    run.step_list, run.compaction_list, run.message_list = [], [], []
    context = compile_context(agent.first_conversation)
    work = Work(run)
    spending = Spending.of_run(run, default_endpoint(), "m")
    _, message = begin_step(work, spending, context, context.body("m"))
    follower = run_stream.Follower(run, MessageOptions(), tokens=True)
    draft = Draft(run, message)
    draft.add([Delta("content", "He"), Delta("content", "l")])
    draft.store()
    first = follower.more()
    draft.add([Delta("content", "lo, B")])
    draft.store()
    second = follower.more()
    later = run_stream.Follower(run, MessageOptions(), tokens=True, after=second[-1]["seq_id"])
    answer = Answer("Hello, Bob", "")
    complete(work, run.step_list[0], message, answer, spending)
    rest = follower.more()
    assert [each["content"] for each in (*first, *second, *rest[:1])] == ["Hel", "lo, B", "ob"]
    assert {each["id"] for each in (*first, *second, *rest[:1])} == {first[0]["id"]}
    assert later.more() == rest, "and one that begins anew goes on from there"
