"""Tools that users write: run in the sandbox, which holds, or not without it."""

from __future__ import annotations

import sys

import pytest

from agents.models import Agent, BlockEdit, Tool
from agents.tools import Caller, ToolError
from agents.tools.custom import available, from_row, sandbox
from tests.support.custom_tools import MODELS, POP, PUSH, PUSH_BY_CLIENT, tool, tried, value

POP_BY_CLIENT = '''
def pop(agent_state: "AgentState"):
    """Take the next task."""
    from letta_client import Letta as Client
    import json

    client = Client(token="none")
    block = client.agents.blocks.retrieve(agent_state.id, block_label="tasks")
    queue = json.loads(block.value)
    if len(queue) == 0:
        return None
    client.agents.blocks.update("tasks", agent_id=agent_state.id, value=json.dumps(queue[1:]))
    return queue[0]
'''


# -- running ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("push", "pop"), [(PUSH, POP), (PUSH_BY_CLIENT, POP_BY_CLIENT)])
def test_both_ways_to_keep_a_queue_work(push: str, pop: str, caller: Caller) -> None:
    agent = caller.agent
    pushing = from_row(Tool.from_source(agent.owner, push))
    popping = from_row(Tool.from_source(agent.owner, pop))
    for task in ("wash", "dry"):
        assert pushing.call(caller, {"task": task}).content == "None"
    assert value(agent, "tasks") == '["wash", "dry"]'
    assert [popping.call(caller, {}).content for _ in range(3)] == ["wash", "dry", "None"]
    assert value(agent, "tasks") == "[]"
    edits = BlockEdit.objects.order_by("pk")
    assert [e.after for e in edits] == ['["wash"]', '["wash", "dry"]', '["dry"]', "[]"]
    assert {(e.editor_kind, e.step, e.tool_call_id) for e in edits} == {
        ("agent", caller.step, "call-1")
    }


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        ("None", "None"),
        ("'words'", "words"),
        ("['a', 1, None]", "['a', 1, None]"),
        ("{'a': 'ü', 'b': [True]}", '{"a": "ü", "b": [true]}'),
        ("{1: {2, 2}}", "{1: {2}}"),
        ("3.5", "3.5"),
        ("agent_state.name", "Worker"),
    ],
)
def test_what_is_returned_is_text(returned: str, text: str, agent: Agent) -> None:
    ran = tried(agent, f"return {returned}")
    assert (ran.returned, ran.error) == (text, "")


def test_print_is_stdout(agent: Agent) -> None:
    ran = tried(agent, "import sys\nprint('one', 2)\nprint('three', file=sys.stderr)\nreturn 'r'")
    assert (ran.stdout, ran.returned) == ("one 2\nthree\n", "r")


# The words that Letta's scripts look for.
NOTE = "... [NOTE: function output was truncated since it exceeded the character limit: "


def test_output_is_cut_with_a_note(agent: Agent) -> None:
    ran = tried(agent, "print('p' * 60_000)\nreturn 'r' * 70_000")
    assert ran.stdout == f"{'p' * 50_000}{NOTE}60001 > 50000]"
    assert ran.returned == f"{'r' * 50_000}{NOTE}70000 > 50000]"
    ran = tried(agent, "return 'r' * 101", return_char_limit=100)
    assert ran.returned == f"{'r' * 100}{NOTE}101 > 100]"


def test_arguments_are_checked_before_the_sandbox_is_entered(agent: Agent) -> None:
    probe = tool(agent.owner, "return x", "x: int, y: str = 'b'")
    assert probe.parse('{"x": 1}') == {"x": 1, "y": "b"}
    for given, words in (
        ('{"x": "1"}', "probe was not called: the argument 'x'"),
        ("{}", "probe was not called: the argument 'x' is missing"),
        ('{"x": 1, "z": 2}', "probe was not called: there is no argument 'z'"),
        ('{"x": 1, "y": 2}', "probe was not called: the argument 'y' must be a string"),
        ('{"x": 1, "agent_state": {}}', "there is no argument 'agent_state'"),
    ):
        with pytest.raises(ToolError, match=words):
            probe.parse(given)


def test_arguments_made_of_models_arrive_as_these(agent: Agent) -> None:
    source = (
        MODELS
        + '''
def f(stops: List[Stop], by_name: Dict[str, Optional[Place]]):
    """Do it.

    Args:
        stops: where to go
        by_name: places
    """
    first = stops[0]
    assert isinstance(first, Stop) and isinstance(first.place, Place)
    mine = Stop(place=Place("Oslo", "Norway"), nights=2)
    first.wishes.append("the sea")
    return [first.place.city, first.place.country, first.nights, first.wishes, mine.wishes,
            mine.model_dump()["nights"], by_name["a"].city, by_name["b"]]
'''
    )
    made = from_row(Tool.from_source(agent.owner, source))
    arguments = made.parse(
        '{"stops": [{"place": {"city": "Riga"}}], "by_name": {"a": {"city": "Bonn"}, "b": null}}'
    )
    ran = made.prepare(agent, arguments)
    assert ran.error == ""
    assert ran.returned == "['Riga', 'Latvia', 1, ['the sea'], [], 2, 'Bonn', None]"


def test_the_line_of_a_failure_is_that_of_the_source_as_it_was_written(agent: Agent) -> None:
    source = """from pydantic import (
    BaseModel,
)
class A(
    BaseModel,
    extra="forbid",
):
    x: int = 3
def f(a: A, self, request_heartbeat: bool = True):
    '''Do it.

    Args:
        a: an A
    '''
    if request_heartbeat or self.memory.get_block("human").value != "Bob":
        return "wrong"
    raise ValueError(f"{a.x}")
"""
    made = from_row(Tool.from_source(agent.owner, source))
    ran = made.prepare(agent, made.parse('{"a": {"x": 7}}'))
    assert (
        ran.error
        == "Error executing function f: ValueError: 7 (line 17 of its source); nothing was changed"
    )


def test_what_monty_has_of_the_standard_library_can_be_imported(agent: Agent) -> None:
    ran = tried(
        agent,
        "import json, re, math, datetime, random, collections\n"
        "from typing import Optional, TYPE_CHECKING\n"
        "return [json.dumps({'a': 1}), re.sub('a', 'b', 'aa'), math.floor(2.5),\n"
        "        datetime.date(2026, 1, 2).isoformat(), TYPE_CHECKING]",
    )
    assert ran.returned == "['{\"a\": 1}', 'bb', 2, '2026-01-02', False]"


# -- without the sandbox ---------------------------------------------------------------------------


def test_there_is_a_sandbox() -> None:
    assert available() == (True, "")


def test_without_the_sandbox_custom_tools_are_off_and_say_so(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe = tool(caller.agent.owner, "return 1")
    monkeypatch.setitem(sys.modules, "pydantic_monty", None)
    monkeypatch.setattr(sandbox, "_pools", {})
    sandbox._monty.cache_clear()
    there, why = available()
    assert not there
    assert why.startswith("Custom tools are off: the sandbox they run in, pydantic-monty, cannot")
    with pytest.raises(ToolError, match="Custom tools are off"):
        probe.prepare(caller.agent, {}).apply(caller)


def test_a_sandbox_that_does_not_start_is_no_sandbox(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "_pools", {})
    monkeypatch.setenv("MONTY_BIN", "/bin/false")
    there, why = available()
    assert not there
    assert "does not start" in why
    assert "does not start" in tried(agent, "return 1").error
