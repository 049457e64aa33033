"""Postgres, Redis, two web processes and two workers: the same code, and nothing depends on one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg
import pytest

from tests.fake_openai import FakeOpenAI, calls, gated, text
from tests.server import ROOT, MemoryWeb, eventually

pytestmark = [pytest.mark.hosted_only, pytest.mark.slow]
APPEND = ("core_memory_append", {"label": "human", "content": "Likes cherry pie"})


class Site:
    """Two web processes on one database; workers are started as a test needs them."""

    def __init__(self, data: Path, model: FakeOpenAI, database: str, stack: ExitStack) -> None:
        self.database, self.model, self.data, self.stack = database, model, data, stack
        self.environment = {"DATABASE_URL": database, "REDIS_URL": os.environ["REDIS_URL"]}
        self.web = [
            stack.enter_context(MemoryWeb(data / name, model, **self.environment))
            for name in ("one", "two")
        ]

    def worker(self) -> subprocess.Popen[bytes]:
        """One more worker."""
        made = subprocess.Popen(
            [sys.executable, "manage.py", "procrastinate", "worker"],
            cwd=ROOT,
            env=self.web[0].environment,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.stack.callback(made.wait)
        self.stack.callback(made.kill)
        return made

    def ask(self, sql: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.database) as connection:
            return connection.execute(sql).fetchall()

    def statuses(self) -> list[object]:
        return [status for (status,) in self.ask("SELECT status FROM agents_run ORDER BY id")]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    url = urlsplit(os.environ["DATABASE_URL"])
    name = f"site_{uuid4().hex[:12]}"
    with psycopg.connect(urlunsplit(url), autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
        with FakeOpenAI() as model, ExitStack() as stack:
            yield Site(tmp_path, model, urlunsplit(url._replace(path=f"/{name}")), stack)
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_a_message_sent_to_one_process_is_answered_in_the_pages_of_another(site: Site) -> None:
    site.worker()
    site.worker()
    site.model.script(calls(APPEND), text("Noted."))
    one, two = site.web
    agent = one.make_agent(human="Name: Bob")
    with one.page(agent) as here, two.page(agent) as there:
        here.send("I like cherry pie.")
        there.wait_for("Likes cherry pie")
        there.wait_for("ended done")
        here.wait_for("ended done")
        assert [seq for seq, _ in here.seen] == [seq for seq, _ in there.seen]
    assert not site.model.refused


def test_a_message_accepted_while_no_worker_runs_is_answered_by_the_first_that_starts(
    site: Site,
) -> None:
    agent = site.web[0].make_agent()
    with site.web[0].page(agent) as page:
        page.send("Hello")
        page.send("Again")
        assert site.statuses() == ["running", "queued"]
        site.worker()
        eventually(lambda: site.statuses() == ["done", "done"])


def test_a_dead_workers_run_is_taken_up_by_another(site: Site) -> None:
    gate = gated(text("Hello there, my friend."))
    site.model.script(calls(APPEND), gate, text("Here I am again."))
    agent = site.web[0].make_agent(human="Name: Bob")
    with site.web[1].page(agent) as page:
        first = site.worker()
        page.send("I like cherry pie.")
        gate.wait(30)
        gate.release(2)
        site.worker()
        first.kill()
        page.wait_for("Here I am again.")
        page.wait_for("ended done")
    assert site.ask("SELECT value, version FROM agents_block WHERE label = 'human'") == [
        ("Name: Bob\nLikes cherry pie", 1)
    ]
    assert not site.model.refused


def test_two_workers_run_one_agent_one_message_at_a_time(site: Site) -> None:
    site.worker()
    site.worker()
    site.model.default = text("Yes.")
    agent = site.web[0].make_agent()
    said = [f"Message {number}" for number in range(6)]
    with site.web[0].page(agent) as page:
        for words in said:
            page.send(words)
        eventually(lambda: site.statuses() == ["done"] * 6)
    asked = [body["messages"][-1]["content"] for body in site.model.requests]
    assert asked == said
    assert not site.model.refused
