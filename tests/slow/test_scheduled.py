"""A scheduled message over `kill -9`: what came due while the server was down is sent once."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.fake_openai import FakeOpenAI, gated, text
from tests.support.server import MemoryWeb, eventually

pytestmark = [pytest.mark.slow, pytest.mark.sqlite_only]


def test_what_came_due_while_the_server_was_down_is_sent_once(
    tmp_path: Path, model: FakeOpenAI
) -> None:
    with MemoryWeb(tmp_path, model) as server:
        agent = server.make_agent()
        form = {"message": "Good morning", "cron": "0 0 1 1 *"}
        assert server.post(f"/agents/{agent}/schedules/", **form).status == 302
        server.kill()
        with closing(sqlite3.connect(server.data / "memoryweb.sqlite3")) as database:
            database.execute("UPDATE agents_schedule SET next_at = '2026-01-01 00:00:00'")
            database.commit()

        gate = gated(text("Good morning to you."))
        model.script(gate, text("Good morning once more."))
        server.start()
        gate.wait(30)
        server.kill()  # while it is being answered
        server.start()
        eventually(lambda: server.runs(agent) == [("Good morning", "done")])
        said = "SELECT content FROM agents_message WHERE role = 'user'"
        assert server.rows(said) == [("Good morning",)]
        assert server.one("SELECT next_at > '2026-01-02' FROM agents_schedule") == 1
