"""`kill -9` at any moment: nothing accepted is lost, nothing happens twice, and it goes on."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_openai import FakeOpenAI, calls, gated, stall, text
from tests.support.openai_answers import Answer
from tests.support.server import ROOT, MemoryWeb, eventually, key_of

pytestmark = [pytest.mark.slow, pytest.mark.sqlite_only]
INTRODUCTION = "I am Sarah and I like cherry pie."


@pytest.fixture(scope="module")
def model() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as scripted:
        scripted.default = notes_two_facts
        yield scripted
        assert not scripted.refused


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, model: FakeOpenAI) -> Iterator[MemoryWeb]:
    with MemoryWeb(tmp_path_factory.mktemp("killed"), model) as started:
        yield started


def notes_two_facts(request: dict[str, Any]) -> Answer:
    """Two tool calls in one message, with one of a script's tool if there is one; then text."""
    if request["messages"][-1]["role"] == "tool":
        return text("Nice to meet you, Sarah.")
    offered = [tool["function"]["name"] for tool in request.get("tools", [])]
    return calls(
        (
            "core_memory_replace",
            {"label": "human", "old_content": "Name: Bob", "new_content": "Name: Sarah"},
        ),
        *[("read_file", {"path": "notes.txt"})] * ("read_file" in offered),
        ("core_memory_append", {"label": "human", "content": "Likes cherry pie"}),
    )


def check_ledger(server: MemoryWeb) -> None:
    """Each block's value is what its ledger says, and each edit of an agent has its tool return."""
    blocks = server.rows("SELECT id, value, version FROM agents_block")
    for block, value, version in blocks:
        edits = server.rows(
            "SELECT version, first_value, after FROM agents_blockedit WHERE block_id = ?"
            " ORDER BY id",
            block,
        )
        assert [number for number, _, _ in edits] == list(range(1, version + 1))
        assert [first is not None for _, first, _ in edits] == [n == 0 for n in range(version)]
        if edits:
            assert edits[-1][2] == value
    made = server.rows(
        "SELECT step_id, tool_call_id FROM agents_blockedit WHERE step_id IS NOT NULL ORDER BY 1, 2"
    )
    returned = server.rows(
        "SELECT step_id, tool_call_id FROM agents_message"
        " WHERE role = 'tool' AND NOT is_error ORDER BY 1, 2"
    )
    assert made == returned
    assert not server.rows("SELECT id FROM agents_message WHERE status = 'draft'")


def exchanged(server: MemoryWeb, agent: str) -> list[tuple[str, str]]:
    """What the person said, and what the agent answered in full, in order."""
    sql = (
        "SELECT role, content FROM agents_message WHERE agent_id = ? AND content != ''"
        " AND role IN ('user', 'assistant') AND status = 'complete' ORDER BY number"
    )
    return [(role, content) for role, content in server.rows(sql, key_of(agent))]


def run_killed_at_each_transaction(
    tmp_path: Path, model: FakeOpenAI, *words: str
) -> tuple[MemoryWeb, int]:
    """A server on what these runs left, and how many were killed."""
    server = MemoryWeb(tmp_path / "data", model)
    server.data.mkdir()
    driver = subprocess.run(
        [sys.executable, "-m", "tests.slow.killed_runs", *words],
        cwd=ROOT,
        env=server.environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert driver.returncode == 0, driver.stderr
    return server, int(driver.stdout)


def test_a_run_killed_before_any_of_its_transactions_goes_on_and_takes_effect_once(
    tmp_path: Path, model: FakeOpenAI
) -> None:
    server, killed = run_killed_at_each_transaction(tmp_path, model)
    assert killed > 6
    agents = server.rows("SELECT id FROM agents_agent")
    assert len(agents) == killed + 1
    for (agent,) in agents:
        assert [status for _, status in server.runs(agent)] == ["done"]
        assert server.block(agent)[1:] == ("Name: Sarah\nLikes cherry pie", 2)
        assert [role for role, _ in exchanged(server, agent)] == ["user", "assistant"]
    check_ledger(server)


def test_a_run_killed_while_its_calls_wait_or_are_answered_takes_effect_once(
    tmp_path: Path, model: FakeOpenAI
) -> None:
    server, killed = run_killed_at_each_transaction(tmp_path, model, "waiting")
    assert killed > 9
    agents = server.rows("SELECT id FROM agents_agent")
    assert len(agents) == killed + 1
    for (agent,) in agents:
        assert [status for _, status in server.runs(agent)] == ["done"]
        assert server.block(agent)[1:] == ("Name: Sarah\nLikes cherry pie", 2)
        returns = "SELECT content FROM agents_message WHERE agent_id = ? AND role = 'tool'"
        assert [content for (content,) in server.rows(returns, agent)][1] == "A cherry"
    asked = "SELECT status, count(*) FROM agents_approval GROUP BY status ORDER BY status"
    assert server.rows(asked) == [("approved", killed + 1), ("returned", killed + 1)]


def test_after_a_kill_all_that_waits_is_answered_in_order_and_nothing_done_is_done_again(
    server: MemoryWeb, model: FakeOpenAI
) -> None:
    idle, busy = server.make_agent(human="Name: Bob"), server.make_agent(human="Name: Bob")
    with server.page(idle) as page:
        key = page.send(INTRODUCTION)
        eventually(lambda: server.is_idle(idle))
    before, seq = exchanged(server, idle), server.last_seq(idle)
    gate = gated(text("Once upon a time there was a server."))
    model.script(gate, text("Once more."), notes_two_facts, notes_two_facts, text("Bye."))
    with server.page(busy) as page:
        page.send("Tell me a story")
        gate.release(3)
        page.wait_for("Once")
        page.send(INTRODUCTION)
        page.send("Goodbye")
    server.kill()
    assert [status for _, status in server.runs(busy)] == ["running", "queued", "queued"]

    server.start()
    eventually(lambda: server.is_idle(busy))
    assert exchanged(server, busy) == [
        ("user", "Tell me a story"),
        ("assistant", "Once more."),
        ("user", INTRODUCTION),
        ("assistant", "Nice to meet you, Sarah."),
        ("user", "Goodbye"),
        ("assistant", "Bye."),
    ]
    broken = "SELECT content FROM agents_message WHERE status = 'broken' AND agent_id = ?"
    assert "Once upon a time".startswith(server.one(broken, key_of(busy)))
    assert server.block(busy)[1:] == ("Name: Sarah\nLikes cherry pie", 2)

    asked = len(model.requests)
    with server.page(idle, after=seq) as page:
        page.send(INTRODUCTION, key)  # the page never heard "accepted"
        assert exchanged(server, idle) == before
        assert len(model.requests) == asked
        model.script(text("Still here."))
        page.send("Are you there?")
        page.wait_for("Still here.")
    eventually(lambda: server.is_idle(idle))
    check_ledger(server)


def test_an_interrupted_server_does_not_wait_for_a_silent_model(
    server: MemoryWeb, model: FakeOpenAI
) -> None:
    agent = server.make_agent()
    model.script(stall("Once upon"), text("Here I am again."))
    with server.page(agent) as page:
        page.send("Hello")
        page.wait_for("Once")
    server.interrupt(within=10)
    server.start()
    eventually(lambda: server.is_idle(agent))
    assert exchanged(server, agent)[-1] == ("assistant", "Here I am again.")
