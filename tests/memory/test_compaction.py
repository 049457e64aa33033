"""Compaction: whole exchanges leave a full window, a summary stands for them, nothing is lost."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from itertools import pairwise

import pytest
from django.utils import timezone

from agents.llm.endpoints import Endpoint
from agents.memory import compaction, sent_requests
from agents.memory.compaction import chunked, compact, leaving, mechanical
from agents.memory.context import compile_context
from agents.models import Agent, Compaction, Message, Run
from agents.models.lease import RunStopped
from agents.runs import failures, loop
from tests.conftest import Ask
from tests.support.conversation import add_message, talk
from tests.support.fake_openai import FakeOpenAI, calls, context_length, status, text
from tests.support.stored import acquired


@pytest.fixture
def small(agent: Agent) -> Agent:
    """The agent with a window of 4000 tokens, and tools that leave most of it."""
    agent.configure(context_window=4000, tools=["core_memory_append", "core_memory_replace"])
    return agent


def test_the_oldest_whole_exchanges_leave_until_it_is_roomy(small: Agent) -> None:
    talk(small, 26)
    context = compile_context(small.first_conversation)
    assert compaction.is_full(context)
    gone = leaving(context)
    assert len(gone) % 2 == 0
    left = context.size - sum(sent.size for sent in gone)
    assert left <= 0.4 * 4000 * 4
    assert left > 0.2 * 4000 * 4  # and no more than needed


def test_the_last_exchange_never_leaves_and_no_call_is_cut_from_its_return(small: Agent) -> None:
    talk(small, 3)
    add_message(small, "user", "Look it up. " + "z" * 9000)
    call = {"id": "a", "name": "find", "arguments": "{}"}
    add_message(small, "assistant", "", tool_calls=[call])
    add_message(small, "tool", "Found.", tool_call_id="a")
    gone = leaving(compile_context(small.first_conversation))
    assert len(gone) == 6
    assert leaving(compile_context(small.first_conversation), all_but_last=True) == gone


@pytest.mark.parametrize("name", ["fake-model", "mistral-fake"])
def test_a_run_that_fills_the_window_by_itself_lets_its_oldest_steps_go(
    name: str, small: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    model.unlisted = [name]
    small.configure(model=name, context_window=3000)
    search = ("archival_memory_insert", {"content": "z" * 900})
    small.configure(tools=["archival_memory_insert"])
    summaries = [text(f"Summary {number}.") for number in range(20)]
    model.script_for(lambda body: "tools" not in body, *summaries)
    model.script(*[calls(search)] * 14, text("Done with all of it."))
    run = ask("Insert it fourteen times.")
    assert run.status == "done"
    assert len(run.step_list) == 15
    assert run.compaction_list
    for step, raw in zip(
        run.step_list, [r for r in model.raw_bodies if b'"tools"' in r], strict=True
    ):
        request = sent_requests.sent(step)
        assert request
        assert (request.body, request.proven) == (raw, True)
    kept = Message.objects.filter(
        agent=small, number__gte=Agent.objects.get().first_conversation.context_from
    )
    assert kept.order_by("number")[0].role == "assistant"


def test_a_long_summary_does_not_fill_a_small_window(
    small: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    talk(small, 26)
    model.script(text("They spoke at length. " * 900))
    assert ask("And now?").status == "done"
    summary = Compaction.objects.get().summary
    assert len(summary) <= 0.1 * 4000 * 5
    Compaction.objects.update(summary="They spoke at length. " * 900)
    small.refresh_from_db()
    context = compile_context(small.first_conversation)
    assert not compaction.is_full(context)
    assert len(context.summary) <= context.longest_summary


def test_a_summary_by_the_model_stands_for_what_left(
    small: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    talk(small, 26)
    model.script(text("They spoke of x and y."), text("Good."))
    run = ask("And now?")
    assert run.status == "done"
    made = Compaction.objects.get()
    assert (made.written_by, made.summary) == ("model", "They spoke of x and y.")
    assert made.first == 1
    assert made.last % 2 == 0
    assert made.tokens_after < 0.5 * 4000 < made.tokens_before
    summarised, answered = (request["messages"] for request in model.requests)
    assert "Question 0:" in summarised[1]["content"]
    system = answered[0]["content"]
    assert system.endswith(
        "<conversation_summary>\nThey spoke of x and y.\n</conversation_summary>"
    )
    assert answered[1]["content"].startswith(f"Question {made.last // 2}:")
    assert answered[-1]["content"] == "And now?"
    assert Message.objects.filter(agent=small).count() == 54


def test_the_next_summary_takes_the_one_before_it_in(
    small: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    talk(small, 26)
    model.script(text("First summary."), text("Good."))
    ask("One")
    small.refresh_from_db()
    talk(small, 14)
    model.script(text("Second summary."), text("Good."))
    ask("Two")
    assert "Earlier summary:\nFirst summary." in model.requests[-2]["messages"][1]["content"]
    assert [c.summary for c in Compaction.objects.all()] == ["First summary.", "Second summary."]
    first, second = Compaction.objects.all()
    assert second.first == first.last + 1
    assert "First summary" not in json.dumps(model.requests[-1])


@pytest.mark.slow
def test_a_conversation_that_goes_on_and_on_never_overflows(
    small: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    model.default = text("I see. " * 40)
    for _ in range(45):
        assert ask("And then " * 40).status == "done"
    assert max(len(raw) for raw in model.raw_bodies) < 4000 * 4
    assert Message.objects.filter(agent=small).count() == 90
    assert Compaction.objects.count() > 1


def test_where_the_model_cannot_summarise_excerpts_stand_in_and_it_is_asked_again(
    small: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    talk(small, 26)
    model.script(status(500), text("Good."))
    assert ask("One").status == "done"
    made = Compaction.objects.get()
    assert made.written_by == "mechanical"
    assert "500" in made.error
    assert "Person: Question 0:" in made.summary or "older lines" in made.summary
    model.script(text("Not yet."))
    ask("Two")  # not at once
    assert len(model.requests) == 3
    Compaction.objects.update(tried_at=timezone.now() - timedelta(minutes=2))
    model.script(text("By the model."), text("Good."))
    ask("Three")
    made.refresh_from_db()
    assert (made.written_by, made.summary, made.error) == ("model", "By the model.", "")
    assert "By the model." in model.requests[-1]["messages"][0]["content"]


@pytest.mark.parametrize("longest", [400, 1600, 20_000])
def test_a_mechanical_summary_is_bounded_and_samples_all_that_left(longest: int) -> None:
    lines = [f"Person: line {number} " + "x" * 300 for number in range(1000)]
    summary = mechanical("What was before.", lines, longest)
    assert len(summary) <= min(longest, 4000)
    assert summary.startswith("What was before.")
    assert "of 1,000 pieces are left out here" in summary
    kept = [int(number) for number in re.findall(r"line (\d+)", summary)]
    assert kept == sorted(kept)
    if len(kept) > 2:
        assert (kept[0], kept[-1]) == (0, 999)
        gaps = [after - before for before, after in pairwise(kept)]
        assert max(gaps) - min(gaps) <= 1


def test_a_long_history_is_summarised_in_parts(small: Agent, model: FakeOpenAI, ask: Ask) -> None:
    talk(small, 60, 400)
    model.default = text("So far.")
    assert ask("And?").status == "done"
    assert len(model.requests) > 3
    assert all(len(raw) < 4000 * 4 for raw in model.raw_bodies)


def test_chunks_hold_every_line_once() -> None:
    lines = ["a" * 10, "b" * 50, "c" * 10, "d" * 10]
    assert [line for lot in chunked(lines, 30) for line in lot] == lines
    assert [len(lot) for lot in chunked(lines, 30)] == [1, 1, 2]


def test_an_endpoint_with_a_smaller_window_is_asked_again_with_less(
    model: FakeOpenAI, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failures, "RETRY_SECONDS", 0.0)
    model.script(text("One."), text("Two."), context_length(), text("Short."), text("Three."))
    ask("First")
    ask("Second")
    run = ask("Third")
    assert run.status == "done"
    asked = [m["content"] for m in model.requests[-1]["messages"][1:]]
    assert asked == ["Third"]
    assert "Short." in model.requests[-1]["messages"][0]["content"]


def test_where_the_last_exchange_alone_is_too_long_it_says_so_once(
    model: FakeOpenAI, ask: Ask
) -> None:
    model.default = context_length()
    run = ask("Third")
    assert run.status == "failed"
    assert "maximum context length" in run.error
    assert len(model.requests) == 1


def test_core_memory_that_does_not_fit_alone_ends_the_run_with_what_to_shorten(
    agent: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    block = agent.block("human")
    assert block is not None
    block.limit, block.value = 50_000, "x" * 40_000
    block.save()
    agent.configure(context_window=4000)
    run = ask("Hello")
    assert run.status == "failed"
    assert "Shorten block 'human' (40,000 characters)" in run.error
    assert not model.requests


def test_stop_is_heeded_while_summarising(small: Agent, model: FakeOpenAI, ask: Ask) -> None:
    talk(small, 26)
    run = acquired(small.send("Next", "k"))
    run.stop()
    with pytest.raises(RunStopped):
        compact(
            run,
            compile_context(small.first_conversation),
            Endpoint("x", model.base_url, "k"),
            "fake-model",
        )
    assert not Compaction.objects.exists()


def test_with_only_one_exchange_there_is_nothing_to_make_room_of(
    agent: Agent, model: FakeOpenAI
) -> None:
    add_message(agent, "user", "Hello")
    run = agent.first_conversation.start("Compact now", "k", Run.Kind.COMPACTION)
    loop.run_agent(run.pk)
    run.refresh_from_db()
    assert (run.status, run.reason) == ("done", "no_room")


def test_a_tool_call_is_part_of_the_transcript_that_is_summarised(agent: Agent) -> None:
    call = {"id": "a", "name": "core_memory_append", "arguments": '{"label": "human"}'}
    asked = add_message(agent, "assistant", "", tool_calls=[call])
    returned = add_message(agent, "tool", "Done.", tool_call_id="a")
    assert list(compaction.transcript([asked, returned])) == [
        'Agent called core_memory_append: {"label": "human"}',
        "Tool returned: Done.",
    ]


def test_a_script_says_how_old_messages_are_summarised(
    small: Agent, model: FakeOpenAI, ask: Ask
) -> None:
    model.models.append("small-model")
    wanted = {"prompt": "Rhyme.", "model": "openai/small-model", "clip_chars": 40, "mode": "all"}
    small.configure(compaction_settings=wanted)
    talk(small, 26)
    model.script(text("A summary that is far longer than forty characters."), text("Hello."))
    ask("Hi")
    summarising, answering = model.requests[-2:]
    assert (summarising["model"], summarising["messages"][0]["content"]) == (
        "small-model",
        "Rhyme.",
    )
    assert answering["model"] != "small-model"
    assert len(Compaction.objects.get().summary) <= 40
    assert [each["content"] for each in answering["messages"][1:]] == ["Hi"], "all others left"


def test_as_much_of_the_window_stays_as_a_script_says(small: Agent) -> None:
    talk(small, 26)
    context = compile_context(small.first_conversation)
    assert (
        len(leaving(context, stays=0.1)) > len(leaving(context)) > len(leaving(context, stays=0.7))
    )
