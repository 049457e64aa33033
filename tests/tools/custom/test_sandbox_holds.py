"""The sandbox holds: there is no way out, and time, memory and output end."""

from __future__ import annotations

import threading

import psutil
import pytest

from agents.models import Agent, Tool
from agents.tools.custom import from_row, sandbox
from agents.tools.custom.sandbox import Limits
from tests.support.custom_tools import tried


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
    assert f"Error executing function probe: {error}" in tried(agent, body).error


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
        ran.error == "Error executing function probe: TimeoutError: it did not end within 0.3 s;"
        " nothing was changed"
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
        ("raise ValueError('x' * 1_000_000)", "function output was truncated"),
    ],
)
def test_a_failure_is_a_sentence_with_error_and_line(body: str, words: str, agent: Agent) -> None:
    ran = tried(agent, body)
    assert ran.error.startswith("Error executing function probe: ")
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
