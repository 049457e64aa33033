"""Programs of Letta's own, unchanged, against a real server: they are only told its address."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.sdk.interpreters import python_with
from tests.sdk.node import PROGRAMS, node_home
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.server import MemoryWeb

pytestmark = pytest.mark.sdk
Run = Callable[..., str]


@pytest.fixture
def run(server: MemoryWeb, scripted: FakeOpenAI, tmp_path: Path) -> Iterator[Run]:
    """Run a program in an empty home; what it printed. The model must have said all it was to."""
    environment = {
        "DISABLE_AUTOUPDATER": "1",
        "HOME": str(tmp_path),
        "LETTA_BASE_URL": server.url,
        "LETTA_CODE_TELEM": "0",
        "PATH": os.environ["PATH"],
        "TERM": "dumb",
    }

    def run(*words: str | Path, cwd: Path = tmp_path, stdin: str = "") -> str:
        done = subprocess.run(
            words, cwd=cwd, env=environment, input=stdin, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    yield run
    unused = scripted.unused
    scripted._script.clear()  # a test that fails leaves nothing to the next
    assert (unused, scripted.refused) == (0, [])


@pytest.fixture
def letta(run: Run) -> Run:
    """Run Letta Code."""
    program = node_home() / "node_modules/@letta-ai/letta-code/letta.js"
    return lambda *words: run("node", program, *words)


def returned(scripted: FakeOpenAI) -> list[str]:
    """What the tools returned, as the model saw it last."""
    messages = scripted.requests[-1]["messages"]
    return [message["content"] for message in messages if message["role"] == "tool"]


def test_letta_code_says_hello_and_runs_a_command_for_the_model(
    letta: Run, scripted: FakeOpenAI
) -> None:
    command = {"command": "echo $((40 + 2))"}
    scripted.script(calls(("ShellCommand", command)), text("Hello! 😀"))
    assert letta("-p", "hello") == "Hello! 😀"
    assert "42" in returned(scripted)[0]
    messages = scripted.requests[-1]["messages"]
    assert "<available_skills>\n- " in messages[0]["content"]
    assert messages[1]["content"].endswith("hello")


def test_letta_codes_new_agent_edits_a_file_and_its_memory_and_is_found_again(
    letta: Run, scripted: FakeOpenAI, tmp_path: Path
) -> None:
    file = tmp_path / "birds.txt"
    file.write_text("a heron\n")
    edit = {"file_path": str(file), "old_string": "a heron", "new_string": "two herons"}
    insert = {"label": "human", "new_string": "Likes herons."}
    scripted.script(
        calls(("Read", {"file_path": str(file)}), ("memory_insert", insert)),
        calls(("Edit", edit)),
        calls(("Bash", {"command": f"wc -w {file}", "description": "Count"})),  # not meanwhile
        text("There are two."),
    )
    options = ("--toolset", "default", "--base-tools", "memory_insert")
    made = json.loads(letta("--new-agent", *options, "-p", "Two!", "--output-format", "json"))
    assert (made["result"], made["is_error"]) == ("There are two.", False)
    assert file.read_text() == "two herons\n"
    read, _, _, counted = returned(scripted)
    assert "a heron" in read
    assert counted.startswith("2 ")
    assert "Likes herons." in scripted.requests[-1]["messages"][0]["content"]
    scripted.script(text("Still two."))
    agent = made["agent_id"]
    again = json.loads(letta("--agent", agent, "-p", "And now?", "--output-format", "json"))
    assert (again["result"], again["agent_id"]) == ("Still two.", agent)


def test_the_sdk_for_typescript(run: Run, scripted: FakeOpenAI) -> None:
    scripted.script(text("Hello!"), text("Hello again, Ann!"))
    told = node(run, "typescript.mjs")
    turn = ["user_message", "assistant_message"]
    assert told == {
        "said": ["Hello!"],
        "stop": "end_turn",
        "streamed": "Hello again, Ann!",
        "ends": ["stop_reason", "usage_statistics"],
        "block": "Bob",
        "listed": ["system_message", *turn, *turn],
        "missing": [True, 404],
    }


def test_the_provider_for_vercels_ai_sdk(run: Run, scripted: FakeOpenAI, server: MemoryWeb) -> None:
    scripted.script(text("Hello!"), text("Hello again!"))
    told = node(run, "vercel.mjs", f"agent-{server.make_agent()}")
    assert told == {"whole": "Hello!", "finish": "stop", "streamed": "Hello again!"}


def node(run: Run, script: str, *words: str) -> Any:
    """What a script of `programs/` tells."""
    source = (PROGRAMS / script).read_text()
    return json.loads(
        run("node", "--input-type=module", "-", *words, cwd=node_home(), stdin=source)
    )


def test_ai_memory_sdk_learns_from_messages(run: Run, scripted: FakeOpenAI) -> None:
    done = calls(("memory_finish_edits", {}))
    human = {"label": "human", "new_string": "Loves herons."}
    birds = {"label": "birds", "old_string": "none", "new_string": "Herons"}
    scripted.script(calls(("memory_insert", human)), done, calls(("memory_replace", birds)), done)
    told = json.loads(
        run(python_with("0.2.0", package="ai-memory-sdk"), PROGRAMS / "memory.py").splitlines()[-1]
    )
    assert "Loves herons." in told.pop("known")
    assert told == {"found": ["I love herons"], "birds": "Herons", "left": [], "after": None}
