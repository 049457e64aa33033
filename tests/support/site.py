"""What a team runs, for tests: two web processes and workers on one Postgres and one Redis.

    with own_site(tmp_path, model) as site:
        site.worker()
        agent = site.web[0].make_agent("Tutor")

DATABASE_URL and REDIS_URL name the servers; each site has a database of its own there.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg

from tests.support.fake_openai import FakeOpenAI
from tests.support.server import ROOT, MemoryWeb


class Site:
    """Two web processes on one database; workers are started as a test needs them."""

    def __init__(
        self,
        data: Path,
        model: FakeOpenAI | None,
        database: str,
        stack: ExitStack,
        environment: dict[str, str],
    ) -> None:
        self.database, self.stack = database, stack
        urls = {"DATABASE_URL": database, "REDIS_URL": os.environ["REDIS_URL"]}
        self.environment = urls | {"MEMORYWEB_SIGNUP": "open"} | environment
        prepared = MemoryWeb(data / "prepare", model, **self.environment).command("prepare")
        assert prepared.returncode == 0, prepared.stderr
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


@contextmanager
def own_site(
    data: Path, model: FakeOpenAI | None = None, server: str = "", **environment: str
) -> Iterator[Site]:
    """A site on a fresh database of a server, DATABASE_URL's if none is named.

    Without a model, the demo answers.
    """
    with own_database(server) as database, ExitStack() as stack:
        yield Site(data, model, database, stack, environment)


@contextmanager
def own_database(server: str = "") -> Iterator[str]:
    """The URL of a fresh, empty database of a server; it is dropped in the end."""
    url = urlsplit(server or os.environ["DATABASE_URL"])
    name = f"site_{uuid4().hex[:12]}"
    execute(urlunsplit(url), f"CREATE DATABASE {name}")
    yield urlunsplit(url._replace(path=f"/{name}"))
    execute(urlunsplit(url), f"DROP DATABASE {name} WITH (FORCE)")


def execute(url: str, sql: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql)
