"""Conversations with servers that refuse what real ones refuse: every one of them goes on."""

from __future__ import annotations

from typing import Any

import pytest

from agents.models import Agent, Block, Message, Run
from tests.support.endpoints import At, Bed, Server, Stream, calls, text
from tests.support.endpoints.servers import (
    ALL,
    ANTHROPIC,
    GEMINI,
    KIMI,
    KNOWN,
    MISTRAL,
    OPENAI,
    QWEN,
)
from tests.support.endpoints.talk import Talk
from tests.support.stored import of

APPEND = "core_memory_append"
PIE = {"label": "human", "content": "Likes pie"}
everywhere = pytest.mark.parametrize("server", ALL, ids=str)


@pytest.fixture
def told(agent: Agent) -> Agent:
    """Alice's agent speaks by tool, as MemGPT's do: a person's message follows a tool's."""
    agent.configure(tools=["send_message", APPEND])
    return agent


def goes_on(at: At, talk: Talk) -> None:
    """The second and the third message are answered, and the refusals have stopped."""
    assert talk("And then?") == "OK."
    refused = len(at.refused)
    assert talk("And then?") == "OK."
    assert len(at.refused) == refused, at.refused
    if at.server in KNOWN:
        assert not at.refused, at.refused[0]


ARGUMENTS = ['{"label": "human", "content": ', '{"label": "hu', "", "null", "[]", '"x"', "3", "{}}"]


@everywhere
def test_arguments_that_are_no_object(server: Server, bed: Bed, agent: Agent, talk: Talk) -> None:
    at = bed.endpoint(server, agent)
    at.script(calls(*((APPEND, arguments) for arguments in ARGUMENTS)), text("I was wrong."))
    assert talk("Remember it") == "I was wrong."
    at.script(calls((APPEND, ARGUMENTS[0]), finish="length"), text("Cut."))
    assert talk("Remember it") == "Cut."
    goes_on(at, talk)


IDS = ("x" * 60, "call 1|fc_2", "functions.append:0", "", "ünïcode-id", "abcDEF123", "a", "a")


@everywhere
def test_ids_of_any_form_and_used_again(server: Server, bed: Bed, agent: Agent, talk: Talk) -> None:
    at = bed.endpoint(server, agent)
    for _ in range(2):
        at.script(calls(*[(APPEND, PIE)] * len(IDS), ids=IDS), text("Noted."))
        assert talk("Remember it") == "Noted."
    goes_on(at, talk)


NAMES = ("core memory.append", "x" * 80, "", "functions.core_memory_append<|channel|>")


@everywhere
def test_names_of_no_tool(server: Server, bed: Bed, agent: Agent, talk: Talk) -> None:
    at = bed.endpoint(server, agent)
    at.script(calls(*((name, PIE) for name in NAMES)), text("I was wrong."))
    assert talk("Remember it") == "I was wrong."
    goes_on(at, talk)


@everywhere
def test_a_persons_message_after_a_tools(server: Server, bed: Bed, told: Agent, talk: Talk) -> None:
    at = bed.endpoint(server, told)
    for word in ("One", "Two", "Three"):
        at.script(calls(("send_message", {"message": word})))
        assert talk("Say it") == word
    going_on = PIE | {"request_heartbeat": True}
    at.script(calls((APPEND, going_on)), calls(("send_message", {"message": "Noted."})))
    talk("Remember it")
    at.script(calls(("send_message", {"message": "Still there."})))
    assert talk("Hello?") == "Still there."
    if server in KNOWN:
        assert not at.refused, at.refused[0]


@everywhere
def test_a_call_that_is_demanded(server: Server, bed: Bed, told: Agent, talk: Talk) -> None:
    told.configure(tool_rules=[{"type": "run_first", "tool_name": APPEND}])
    at = bed.endpoint(server, told)
    for word in ("One", "Two"):
        going_on = PIE | {"request_heartbeat": True}
        at.script(calls((APPEND, going_on)), calls(("send_message", {"message": word})))
        talk("Say it")
    assert len(at.requests) >= 2
    assert len(at.refused) <= 3, at.refused


@everywhere
def test_answers_that_failed_and_were_cut(
    server: Server, bed: Bed, agent: Agent, talk: Talk
) -> None:
    """Two messages of the person's in a row, an empty answer, one of white space."""
    at = bed.endpoint(server, agent)
    empty = Stream(({"role": "assistant", "content": ""},))
    at.script(empty, empty, empty)
    assert talk("Are you there?", fails=True) == ""
    at.script(text("  \n "), text("  \n "), text("  \n "))
    talk("Are you there?", fails=True)
    goes_on(at, talk)


def imported(agent: Agent) -> None:
    """A history as no run makes it."""
    strange: list[dict[str, Any]] = [
        {"role": "assistant", "content": "Welcome!"},
        {"role": "system", "content": "You have logged in."},
        {"role": "user", "content": "Hi"},
        {"role": "user", "content": "Are you there?"},
        {"role": "assistant", "content": ""},
        {"role": "assistant", "content": " \n"},
        {"role": "tool", "content": "Nobody called.", "tool_call_id": "orphan"},
        {"role": "assistant", "tool_calls": [call("a b|c" * 20, "no such tool!", "{")]},
        {"role": "assistant", "content": "Sure.", "tool_calls": [call("x", "note", "[]")]},
        {"role": "tool", "content": "", "tool_call_id": "x"},
        {"role": "tool", "content": "Again.", "tool_call_id": "x"},
        {
            "role": "assistant",
            "tool_calls": [call("x", "", "null"), call("y", "note", '{"a": NaN}')],
        },
        {"role": "tool", "content": "OK", "tool_call_id": "y"},
        {"role": "user", "content": " "},
        {"role": "assistant", "content": "Yes?"},
        {"role": "assistant", "content": "Hello?"},
        {"role": "system", "content": "Be brief."},
    ]
    for number, message in enumerate(strange, 1):
        Message.objects.create(**of(agent), number=number, **message)
    Agent.objects.filter(pk=agent.pk).update(message_count=len(strange))
    agent.refresh_from_db()


def call(id: str, name: str, arguments: str) -> dict[str, str]:
    return {"id": id, "name": name, "arguments": arguments}


@everywhere
def test_a_history_from_elsewhere(server: Server, bed: Bed, agent: Agent, talk: Talk) -> None:
    imported(agent)
    at = bed.endpoint(server, agent)
    at.script(calls((APPEND, PIE)), text("Here I am."))
    assert talk("Where were we?") == "Here I am."
    goes_on(at, talk)


# -- from one endpoint to another ------------------------------------------------------------------

# Their answers differ: in the form of ids, by reasoning, by signatures.
DISTINCT = [
    KIMI,
    GEMINI,
    *(pytest.param(each, marks=pytest.mark.slow) for each in (OPENAI, MISTRAL, ANTHROPIC, QWEN)),
]


@pytest.mark.parametrize("server", DISTINCT, ids=str)
def test_a_history_made_at_one_is_taken_by_all_others(
    server: Server, bed: Bed, agent: Agent, talk: Talk
) -> None:
    at = bed.endpoint(server, agent)
    at.script(calls((APPEND, PIE), (APPEND, '{"broken')), calls((APPEND, PIE)), text("Noted."))
    assert talk("I like pie") == "Noted."
    for other in ALL:
        there = bed.endpoint(other, agent)
        there.script(calls((APPEND, PIE)), text(f"From {other}."))
        assert talk("And there?") == f"From {other}.", (other, there.refused)
        if other in KNOWN:
            assert not there.refused, (other, there.refused[0])


def test_every_conversation_was_held(human: Block) -> None:
    """The servers of the table, each with its evidence."""
    assert len({str(server) for server in ALL}) == len(ALL)
    assert all(server.evidence for server in ALL)
    assert Run.objects.count() == 0
