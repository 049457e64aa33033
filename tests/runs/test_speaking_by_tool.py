"""The loop in MemGPT's style: the agent talks by a tool, and says whether it goes on."""

from __future__ import annotations

import pytest

from agents.models import Agent
from agents.runs import failures
from tests.conftest import Ask
from tests.support.fake_openai import FakeOpenAI, calls, empty

APPEND = ("core_memory_append", {"label": "human", "content": "Likes cherry pie"})


@pytest.fixture
def memgpt(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> Agent:
    monkeypatch.setattr(failures, "RETRY_SECONDS", 0.0)
    agent.configure(tools=["send_message", "core_memory_append"])
    return agent


def test_send_message_ends_the_turn(model: FakeOpenAI, memgpt: Agent, ask: Ask) -> None:
    model.script(calls(("send_message", {"message": "Hello, Bob."})))
    run = ask()
    assert run.reason == "end_turn"
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ("heartbeat", "why"),
    [
        (True, "asked for a heartbeat, so the agent goes on"),
        (False, "said nothing to the person yet, so the agent is asked for its answer"),
    ],
)
def test_an_agent_has_one_more_step_where_it_asks_or_has_said_nothing(
    heartbeat: bool, why: str, model: FakeOpenAI, memgpt: Agent, ask: Ask
) -> None:
    name, arguments = APPEND
    model.script(
        calls((name, arguments | {"request_heartbeat": heartbeat})),
        calls(("send_message", {"message": "Noted."})),
    )
    run = ask()
    assert [step.outcome for step in run.steps.all()] == [why, "answered"]
    assert run.reason == "end_turn"
    _, human = memgpt.core_memory()
    assert human.value == "Name: Bob\nLikes cherry pie"


def test_an_agent_is_asked_for_its_answer_once(model: FakeOpenAI, memgpt: Agent, ask: Ask) -> None:
    model.script(calls(APPEND), calls(APPEND))
    assert ask().reason == "no_heartbeat"
    assert len(model.requests) == 2


def test_an_agent_that_has_no_answer_when_asked_ends_its_turn(
    model: FakeOpenAI, memgpt: Agent, ask: Ask
) -> None:
    model.script(calls(APPEND), empty())
    run = ask()
    assert (run.status, run.reason) == ("done", "no_heartbeat")
    assert len(model.requests) == 2


def test_after_it_has_spoken_an_agent_may_end_its_turn_with_a_memory_edit(
    model: FakeOpenAI, memgpt: Agent, ask: Ask
) -> None:
    memgpt.configure(tool_rules=[{"type": "continue_loop", "tool_name": "send_message"}])
    model.script(calls(("send_message", {"message": "Hello."})), calls(APPEND))
    assert ask().reason == "no_heartbeat"
    assert len(model.requests) == 2


def test_tools_of_an_agent_that_speaks_by_tool_have_to_say_whether_it_goes_on(
    model: FakeOpenAI, memgpt: Agent, ask: Ask
) -> None:
    ask()
    functions = [each["function"] for each in model.requests[0]["tools"]]
    told = {function["name"]: function["parameters"] for function in functions}
    assert "request_heartbeat" in told["core_memory_append"]["required"]
    assert "request_heartbeat" not in told["send_message"]["properties"]


def test_a_failed_call_gets_another_step_without_a_heartbeat(
    model: FakeOpenAI, memgpt: Agent, ask: Ask
) -> None:
    model.script(
        calls(("core_memory_append", {"label": "dog", "content": "x"})),
        calls(("send_message", {"message": "There is no such block."})),
    )
    assert ask().reason == "end_turn"
    assert len(model.requests) == 2
