"""Tools that users write: run in the sandbox, which holds, or not without it."""

from __future__ import annotations

import sys
import threading

import psutil
import pytest
from django.contrib.auth.models import User

from agents.memory.classes import TaskMemory
from agents.models import Agent, BlockEdit, Tool
from agents.tools import Caller, ToolError
from agents.tools.custom import available, from_row, sandbox
from agents.tools.custom.sandbox import Limits
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


@pytest.fixture
def agent(alice: User) -> Agent:
    """Alice's agent, with a queue of tasks."""
    return Agent.create(alice, "Worker", TaskMemory(human="Bob", persona="I work", tasks=[]))


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


def test_output_is_cut_with_a_note(agent: Agent) -> None:
    ran = tried(agent, "print('p' * 60_000)\nreturn 'r' * 70_000")
    assert ran.stdout == f"{'p' * 50_000}\n[Cut here: 10,001 of 60,001 characters left out.]"
    assert ran.returned == f"{'r' * 50_000}\n[Cut here: 20,000 of 70,000 characters left out.]"
    ran = tried(agent, "return 'r' * 101", return_char_limit=100)
    assert ran.returned == f"{'r' * 100}\n[Cut here: 1 of 101 characters left out.]"


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
    assert ran.error == "f failed and changed nothing: ValueError: 7 (line 17 of its source)"


def test_what_monty_has_of_the_standard_library_can_be_imported(agent: Agent) -> None:
    ran = tried(
        agent,
        "import json, re, math, datetime, random, collections\n"
        "from typing import Optional, TYPE_CHECKING\n"
        "return [json.dumps({'a': 1}), re.sub('a', 'b', 'aa'), math.floor(2.5),\n"
        "        datetime.date(2026, 1, 2).isoformat(), TYPE_CHECKING]",
    )
    assert ran.returned == "['{\"a\": 1}', 'bb', 2, '2026-01-02', False]"


# -- the sandbox holds -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("open('/etc/passwd').read()", "PermissionError"),
        ("open('/tmp/x', 'w').write('a')", "PermissionError"),
        ("import pathlib\npathlib.Path('/etc/passwd').read_text()", "PermissionError"),
        ("import os\nos.listdir('/')", "PermissionError"),
        ("import os\nos.system('ls')", "AttributeError"),
        ("import socket", "ModuleNotFoundError"),
        ("import subprocess", "ModuleNotFoundError"),
        ("import urllib.request", "ModuleNotFoundError"),
        ("import requests", "ModuleNotFoundError"),
        ("import agents.models", "ModuleNotFoundError"),
        ("import django", "ModuleNotFoundError"),
        ("agent_state.__class__.__subclasses__()", "AttributeError"),
        ("agent_state.memory.get_block.__globals__", "AttributeError"),
        ("agent_state.memory._staged", "AttributeError"),
        ("agent_state.memory.__init__()", "AttributeError"),
        ("type(agent_state)('a', 'b', 'c', [], None)", "TypeError"),
        ("__import__('os')", "NameError"),
    ],
)
def test_there_is_no_way_out(body: str, error: str, agent: Agent) -> None:
    assert f"probe failed and changed nothing: {error}" in tried(agent, body).error


def test_there_is_nothing_of_ours_in_its_environment(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a secret")
    ran = tried(
        agent,
        "import os\n"
        "return [os.getenv('OPENAI_API_KEY'), os.getenv('PATH', 'none'), dict(os.environ)]",
    )
    assert ran.returned == "[None, 'none', {}]"


@pytest.mark.parametrize(
    "body",
    [
        "while True: pass",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "while True:\n    try:\n        pass\n    finally:\n        continue",
        "while True: print('x' * 1000)",
        "sum(range(10 ** 12))",
        "import re\nre.findall('(?=(a+))', 'a' * 50_000)",
        "int('9' * 4000) ** 5000",
    ],
)
def test_time_runs_out(body: str, agent: Agent) -> None:
    ran = tried(agent, body, seconds=0.3)
    assert (
        ran.error == "probe failed and changed nothing: TimeoutError: it did not end within 0.3 s"
    )
    assert len(ran.stdout) < 51_000


def test_waiting_takes_no_time(agent: Agent) -> None:
    ran = tried(agent, "import time\ntime.sleep(60)\nreturn 'woke'", seconds=1)
    assert ran.returned == "woke", "Sixty seconds fit into one"


@pytest.mark.parametrize(
    "body",
    [
        "x = 'a'\nwhile True: x += x",
        "[0] * 10 ** 9",
        "x = []\nwhile True: x = [x, x]",
        "list(range(10 ** 9))",
        "10 ** 10 ** 9",
        "'a'.join(['x' * 1000] * 10 ** 6)",
        "a = [1] * 1_000_000\nreturn [a] * 100_000",
        "f'{1:1000000000}'",
    ],
)
def test_memory_runs_out(body: str, agent: Agent) -> None:
    ran = tried(agent, body)
    assert "MemoryError: it needs more than 64 MB" in ran.error


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("def g(): return g()\ng()", "RecursionError"),
        ("import re\nre.match(r'(a*)*\\1b', 'a' * 5000)", "re.PatternError"),
        ("import json\njson.loads('[' * 100_000)", "json.JSONDecodeError"),
        ("while True: agent_state.memory.get_block('tasks')", "more than 1,000 times"),
        ("raise ValueError('no\\nway')", "ValueError: no\nway (line 3 of its source)"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt (line 3 of its source)"),
        ("x = 1\nreturn x / 0", "ZeroDivisionError: division by zero (line 4 of its source)"),
        ("class A(dict): pass", "class inheritance"),
        ("raise ValueError('x' * 1_000_000)", "characters left out"),
    ],
)
def test_a_failure_is_a_sentence_with_error_and_line(body: str, words: str, agent: Agent) -> None:
    ran = tried(agent, body)
    assert ran.error.startswith("probe failed and changed nothing: ")
    assert words in ran.error
    assert len(ran.error) < 11_000
    assert tried(agent, "return 'the next one runs'").returned == "the next one runs"


def test_a_tool_cannot_pretend_to_have_returned_text(agent: Agent) -> None:
    source = 'def probe():\n    """Try."""\n    return 1\nstr = len = lambda _: {}\n'
    ran = from_row(Tool.from_source(agent.owner, source)).prepare(agent, {})
    assert "cannot be shown as text" in ran.error or "TypeError" in ran.error


def test_calls_out_of_the_sandbox_come_back_on_the_thread_that_entered_it() -> None:
    seen = []

    def enter() -> None:
        ask = {"probe": {"ask": lambda: seen.append(threading.get_ident())}}
        code = "import probe\nprobe.ask()"
        sandbox.run(code, person=1, inputs={}, modules=ask, limits=Limits(1, 64))
        seen.append(threading.get_ident())

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert len(seen) == 2
    assert seen[0] == seen[1] != threading.get_ident()


def test_a_worker_that_dies_fails_one_call_and_no_other(agent: Agent) -> None:
    def kill() -> None:
        for child in psutil.Process().children():
            if child.name() == "monty":
                child.kill()

    def ask(code: str) -> sandbox.SandboxResult:
        modules = {"probe": {"kill": kill}}
        return sandbox.run(code, person=1, inputs={}, modules=modules, limits=Limits(1, 64))

    assert "the sandbox broke down" in ask("import probe\nprobe.kill()\nprobe.kill()").error
    assert ask("1 + 1").value == 2


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
