"""The loop against a server that refuses what the API refuses, and misbehaves in every way."""

from __future__ import annotations

from typing import Any

import pytest

from agents.live import publisher
from agents.models import Agent, Block, Message, Run
from agents.runs import engine, failures, loop
from tests.conftest import Ask
from tests.support.fake_openai import (
    FakeOpenAI,
    break_off,
    calls,
    empty,
    error_in_stream,
    garbage,
    reasoning,
    refuse_connection,
    stall,
    status,
    text,
    text_and_calls,
)

APPEND = ("core_memory_append", {"label": "human", "content": "Likes cherry pie"})
RENAME = (
    "core_memory_replace",
    {"label": "human", "old_content": "Name: Bob", "new_content": "Name: Sarah"},
)


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "RETRY_SECONDS", 0.0)


def human(agent: Agent) -> Block:
    block = agent.block("human")
    assert block is not None
    return block


def answers_of(run: Run) -> list[str]:
    return [m.content for m in run.messages.filter(role="assistant", status="complete")]


def returns(run: Run) -> list[Message]:
    return list(run.messages.filter(role="tool"))


def system_of(body: dict[str, Any]) -> str:
    return str(body["messages"][0]["content"])


def test_text_ends_the_turn(model: FakeOpenAI, ask: Ask) -> None:
    model.script(text("Hello, Bob."))
    run = ask("Hi")
    assert (run.status, run.reason) == ("done", "end_turn")
    assert answers_of(run) == ["Hello, Bob."]
    assert [m["role"] for m in model.requests[0]["messages"]] == ["system", "user"]


def test_an_edit_is_seen_by_the_very_next_step(model: FakeOpenAI, agent: Agent, ask: Ask) -> None:
    model.script(calls(RENAME), text("Nice to meet you, Sarah."))
    run = ask("My name is actually Sarah.")
    assert human(agent).value == "Name: Sarah"
    assert "Name: Bob" in system_of(model.requests[0])
    assert '<human characters="11/2000">\nName: Sarah\n</human>' in system_of(model.requests[1])
    assert run.answered_steps() == 2
    assert not model.refused


def test_several_calls_in_one_message_are_all_answered_in_order(
    model: FakeOpenAI, agent: Agent, ask: Ask
) -> None:
    model.script(text_and_calls("Noting.", RENAME, APPEND), text("Done."))
    ask("I am Sarah and I like cherry pie.")
    assert human(agent).value == "Name: Sarah\nLikes cherry pie"
    roles = [m["role"] for m in model.requests[1]["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "tool"]
    assert not model.refused


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (("core_memory_append", '{"label": "human", "content": '), "are not JSON"),
        (("core_memory_append", "[1, 2]"), "not a JSON object"),
        (("core_memory_append", {"label": "human"}), "'content' is missing"),
        (
            ("core_memory_append", {"label": "human", "content": "x", "mood": "good"}),
            "no argument 'mood'",
        ),
        (("core_memory_append", {"label": "human", "content": 7}), "must be a string"),
        (("paint_the_fence", {"colour": "white"}), "There is no tool 'paint_the_fence'"),
        (("core_memory_append", {"label": "dog", "content": "x"}), "There is no block 'dog'"),
        (
            ("core_memory_replace", {"label": "human", "old_content": "Paris", "new_content": ""}),
            "'Paris' does not occur in block 'human'",
        ),
        (
            ("core_memory_replace", {"label": "human", "old_content": "", "new_content": "x"}),
            "The text to replace is empty",
        ),
        (
            ("core_memory_append", {"label": "human", "content": "x" * 2130}),
            "block 'human' would be 2,140 of 2,000 characters; shorten it by 140",
        ),
    ],
)
def test_a_call_that_cannot_be_made_goes_back_to_the_model_and_changes_nothing(
    call: tuple[str, Any], complaint: str, model: FakeOpenAI, agent: Agent, ask: Ask
) -> None:
    model.script(calls(call), text("I see."))
    run = ask()
    assert run.status == "done"
    (answer,) = returns(run)
    assert answer.is_error
    assert complaint in answer.content
    assert human(agent).value == "Name: Bob"
    assert not model.refused


def test_a_read_only_block_is_not_written_by_the_agent(
    model: FakeOpenAI, agent: Agent, ask: Ask
) -> None:
    human(agent).configure(read_only=True)
    model.script(calls(APPEND), text("I cannot."))
    run = ask()
    assert "read-only" in returns(run)[0].content
    assert human(agent).value == "Name: Bob"


@pytest.mark.parametrize("ids", [["", ""], ["same", "same"], ["x" * 90, "x" * 90]])
def test_empty_double_and_overlong_call_ids_are_mended(
    ids: list[str], model: FakeOpenAI, agent: Agent, ask: Ask
) -> None:
    model.script(calls(RENAME, APPEND, ids=ids), text("Done."))
    run = ask()
    assert len({m.tool_call_id for m in returns(run)}) == 2
    assert human(agent).value == "Name: Sarah\nLikes cherry pie"
    assert not model.refused


@pytest.mark.parametrize(
    "trouble",
    [
        break_off("Hel"),
        break_off("Hel", cleanly=True),
        garbage("Hel"),
        error_in_stream("overloaded", "Hel"),
        empty(),
        status(429, headers={"Retry-After": "0"}),
        status(500),
        status(503),
    ],
)
def test_passing_trouble_is_tried_again(trouble: Any, model: FakeOpenAI, ask: Ask) -> None:
    model.script(trouble, text("Hello."))
    run = ask()
    assert run.status == "done"
    assert answers_of(run) == ["Hello."]
    assert len(model.requests) == 2


def test_an_endpoint_may_say_anything_when_it_fails(model: FakeOpenAI, ask: Ask) -> None:
    model.script(status(500, message="Sorry \0 " + "x" * 2000), text("Hello."))
    run = ask()
    assert answers_of(run) == ["Hello."]
    assert "Sorry \ufffd xxx" in run.steps.get(status="failed").error


def test_a_model_that_falls_silent_is_asked_again(
    model: FakeOpenAI, ask: Ask, settings: Any
) -> None:
    settings.MODEL_TIMEOUT = 0.3
    model.script(stall("Hel"), text("Hello."))
    run = ask()
    assert answers_of(run) == ["Hello."]
    assert run.messages.get(status="broken").content == "Hel"
    assert "sent nothing for 0.3 s" in run.steps.get(status="failed").error


def test_after_two_retries_the_run_fails_and_keeps_what_was_said(
    model: FakeOpenAI, ask: Ask
) -> None:
    model.script(break_off("Hel"), break_off("Hell"), break_off("Hello, B"), text("Never asked."))
    run = ask()
    assert (run.status, run.reason) == ("failed", "error")
    assert model.base_url in run.error
    assert "broke off" in run.error
    kept = run.messages.filter(role="assistant").last()
    assert kept is not None
    assert (kept.status, kept.content) == ("broken", "Hello, B")


@pytest.mark.parametrize(
    ("code", "words"), [(401, "refused the key"), (404, "no such model"), (400, "refused the")]
)
def test_a_refusal_that_will_not_change_is_not_repeated(
    code: int, words: str, model: FakeOpenAI, ask: Ask
) -> None:
    model.script(status(code, message="No."))
    run = ask()
    assert run.status == "failed"
    assert words in run.error
    assert len(model.requests) == 1


def test_when_nothing_listens_the_run_says_where(
    model: FakeOpenAI, agent: Agent, ask: Ask, settings: Any
) -> None:
    settings.OPENAI_BASE_URL = refuse_connection()
    run = ask()
    assert run.status == "failed"
    assert run.error == f"Nothing answers at {settings.OPENAI_BASE_URL}; is the server running?"


def test_a_fault_in_a_step_is_said_and_the_draft_put_aside(
    model: FakeOpenAI, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError

    model.script(text("Hello."), text("Here again."))
    with monkeypatch.context() as faulty:
        faulty.setattr(loop, "complete", broken)
        run = ask()
    assert run.status == "failed"
    assert "memoryweb itself failed (ZeroDivisionError)" in run.error
    assert [m.status for m in run.messages.filter(role="assistant")] == ["broken"]
    assert answers_of(ask("Still there?")) == ["Here again."]


def test_a_failed_run_goes_on_after_retry(model: FakeOpenAI, agent: Agent, ask: Ask) -> None:
    model.script(status(401), text("Here I am."))
    run = ask()
    assert run.retry()
    loop.run_agent(run.pk)
    run.refresh_from_db()
    assert (run.status, answers_of(run)) == ("done", ["Here I am."])
    assert run.messages.filter(role="user").count() == 1
    assert not model.refused


def test_the_limit_of_steps_ends_the_run(model: FakeOpenAI, agent: Agent, ask: Ask) -> None:
    agent.configure(max_steps=3)
    model.default = calls(("core_memory_append", {"label": "human", "content": "More"}))
    run = ask()
    assert run.reason == "max_steps"
    assert run.answered_steps() == 3
    assert len(returns(run)) == 3


def test_reasoning_is_kept_and_not_sent_back(model: FakeOpenAI, ask: Ask) -> None:
    model.script(reasoning("They greet me.", then=text("Hello.")), text("Yes."))
    run = ask()
    message = run.messages.get(role="assistant")
    assert (message.reasoning, message.content) == ("They greet me.", "Hello.")
    ask("Still there?")
    assert not model.refused


@pytest.mark.django_db(transaction=True)
def test_a_page_that_cannot_be_rendered_fails_no_run(
    model: FakeOpenAI, agent: Agent, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> str:
        raise RuntimeError("no such template")

    monkeypatch.setattr(publisher, "_render", broken)
    monkeypatch.setattr(engine, "submit", lambda run: None)
    monkeypatch.setitem(publisher._listeners, publisher.agent_topic(agent.pk, "en"), {print})
    model.script(calls(APPEND), text("Noted."))
    assert ask().status == "done"


def test_a_run_over_which_worker_after_worker_dies_is_given_up(
    agent: Agent, model: FakeOpenAI
) -> None:
    run = agent.send("Hello", "k")
    Run.objects.filter(pk=run.pk).update(tries=20)
    loop.run_agent(run.pk)
    run.refresh_from_db()
    assert (run.status, model.requests) == ("failed", [])
    assert "stopped 20 times" in run.error
    run.retry()
    loop.run_agent(run.pk)
    run.refresh_from_db()
    assert run.status == "done"
