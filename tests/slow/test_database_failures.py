"""A real server whose database fails under it goes on by itself when the database works again."""

from __future__ import annotations

import resource
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.fake_openai import FakeOpenAI, calls, gated, text
from tests.support.server import MemoryWeb, eventually

pytestmark = [pytest.mark.slow, pytest.mark.sqlite_only]
APPEND = ("core_memory_append", {"label": "human", "content": "Likes cherry pie"})
LONG = "Hello there, my friend. " * 400


@pytest.fixture
def server(tmp_path: Path, model: FakeOpenAI) -> Iterator[MemoryWeb]:
    with MemoryWeb(tmp_path / "data", model, MEMORYWEB_DATABASE_WAIT="0.5") as started:
        yield started


def has_logged(server: MemoryWeb, words: str) -> bool:
    return words in server.log.read_text()


def test_a_run_goes_on_after_another_program_has_held_the_database(
    server: MemoryWeb, model: FakeOpenAI
) -> None:
    agent = server.make_agent(human="Name: Bob")
    gate = gated(text(LONG))
    model.script(calls(APPEND), gate, text("Here I am again."))
    with server.page(agent) as page:
        page.send("I like cherry pie.")
        gate.wait(30)
        gate.release(2)
        path = server.data / "memoryweb.sqlite3"
        with closing(sqlite3.connect(path, isolation_level=None, timeout=20)) as other:
            other.execute("BEGIN IMMEDIATE")
            gate.release(400)
            eventually(lambda: has_logged(server, "Run 1 broke off"))
            eventually(lambda: has_logged(server, "A periodic task waits. The database is locked"))
            answer = server.post(f"/agents/{agent}/messages/", text="Are you there?", key="k")
            assert answer.status == 503
            assert answer.getheader("Retry-After") == "5"
            page.say(command="send", agent=agent, text="Are you there?", key="k")
            refused = next(frame for frame in page.frames() if "refused" in frame)
            assert refused["refused"] == "k"
            assert "The database is locked" in refused["content"]
            assert server.runs(agent) == [("I like cherry pie.", "running")]
        page.wait_for("Here I am again.")
        page.wait_for("ended done")
    assert server.block(agent)[1:] == ("Name: Bob\nLikes cherry pie", 1)


@pytest.mark.skipif(sys.platform != "linux", reason="no other system limits a running process")
def test_a_run_goes_on_when_files_may_grow_again(server: MemoryWeb, model: FakeOpenAI) -> None:
    agent = server.make_agent(human="Name: Bob")
    gate = gated(text(LONG))
    model.script(calls(APPEND), gate, text("Here I am again."))
    with server.page(agent) as page:
        page.send("I like cherry pie.")
        gate.wait(30)
        gate.release(2)
        page.wait_for("Hello")
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (32_768, resource.RLIM_INFINITY))
        gate.release(400)
        eventually(lambda: has_logged(server, "Run 1 broke off"))
        no_limit = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, no_limit)
        page.wait_for("Here I am again.")
        page.wait_for("ended done")
    assert server.block(agent)[1:] == ("Name: Bob\nLikes cherry pie", 1)
