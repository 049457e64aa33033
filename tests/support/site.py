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
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg

from tests.support.fake_openai import FakeOpenAI
from tests.support.server import ROOT, START_WITHIN, MemoryWeb, eventually


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
        self.web = [MemoryWeb(data / name, model, **self.environment) for name in ("one", "two")]
        self.workers: list[subprocess.Popen[bytes]] = []
        stack.callback(self.stop_workers)
        for web in self.web:
            stack.callback(web.kill)
            web.launch()
        for web in self.web:
            eventually(web.answers, within=START_WITHIN)

    def worker(self) -> subprocess.Popen[bytes]:
        """One more worker."""
        made = subprocess.Popen(
            [sys.executable, "manage.py", "procrastinate", "worker"],
            cwd=ROOT,
            env=self.web[0].environment,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.workers.append(made)
        return made

    def stop_workers(self) -> None:
        """kill -9"""
        for worker in self.workers:
            worker.kill()
        for worker in self.workers:
            worker.wait()
        self.workers.clear()

    def clear(self) -> None:
        """What a test leaves to the next: no worker, no agent, no job."""
        self.stop_workers()
        self.ask("TRUNCATE agents_agent, agents_block, procrastinate_jobs CASCADE")

    def ask(self, sql: str) -> list[tuple[object, ...]]:
        """The rows that a statement gives, if it gives any."""
        with psycopg.connect(self.database) as connection:
            answer = connection.execute(sql)
            return answer.fetchall() if answer.description else []

    def statuses(self) -> list[object]:
        return [status for (status,) in self.ask("SELECT status FROM agents_run ORDER BY id")]


@contextmanager
def own_site(
    data: Path, model: FakeOpenAI | None = None, server: str = "", **environment: str
) -> Iterator[Site]:
    """A site on a fresh database of a server, DATABASE_URL's if none is named.

    Without a model, the demo answers.
    """
    server = server or os.environ["DATABASE_URL"]
    with own_database(server, prepared(server)) as database, ExitStack() as stack:
        yield Site(data, model, database, stack, environment)


@contextmanager
def own_database(server: str = "", copied: str = "template1") -> Iterator[str]:
    """The URL of a fresh database of a server, empty or a copy; it is dropped in the end."""
    url = urlsplit(server or os.environ["DATABASE_URL"])
    name = f"site_{uuid4().hex[:12]}"
    execute(urlunsplit(url), f"CREATE DATABASE {name} TEMPLATE {copied}")
    yield urlunsplit(url._replace(path=f"/{name}"))
    execute(urlunsplit(url), f"DROP DATABASE {name} WITH (FORCE)")


@cache
def prepared(server: str) -> str:
    """The name of a database of a server that sites are copies of; it ends with the server."""
    name = f"prepared_{uuid4().hex[:12]}"
    execute(server, f"CREATE DATABASE {name}")
    url = urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
    with TemporaryDirectory() as data:
        done = MemoryWeb(Path(data), DATABASE_URL=url).command("prepare")
    assert done.returncode == 0, done.stderr
    return name


def execute(url: str, sql: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql)
