"""A hosted deployment: Postgres and Redis as the tests have them, web processes and workers."""

from __future__ import annotations

import contextlib
import json
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import redis

from bench import processes
from bench.processes import ROOT, BenchError, Server
from tests.support.own_postgres import own_postgres
from tests.support.own_redis import redis_server_url

CONNECTIONS = 300  # that Postgres gives: it is measured how many are taken
# The tests' Postgres forgets what was not on the disk when it falls; a real one does not.
DURABLE = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}
START_SECONDS = 120.0


@dataclass
class Person:
    """Somebody who is logged in, and one of their agents."""

    agent: str
    cookie: str


@dataclass
class Site:
    """What all deployments of a benchmark share: the servers, the stub, the data."""

    settings: dict[str, str]
    data: Path
    database: str = ""
    postgres: int = 0  # process
    postgres_log: Path = Path()
    redis: str = ""
    stub: int = 0  # process

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a statement, asked over a connection that ends at once."""
        with psycopg.connect(
            self.database, autocommit=True, application_name="bench"
        ) as connection:
            answer = connection.execute(sql)
            return answer.fetchall() if answer.description else []

    def redis_info(self) -> dict[str, Any]:
        with contextlib.closing(redis.Redis.from_url(self.redis)) as client:
            return dict(client.info())

    def cast(self, people: int, agents: int, messages: int) -> list[Person]:
        """So many people, each with so many agents that have said so much."""
        words = [str(each) for each in (people, agents, messages)]
        made = self.run("-m", "bench.hosted.cast", *words)
        return [Person(**each) for each in json.loads(made)]

    def run(self, *words: str) -> bytes:
        """A command of this Python's, to its end."""
        try:
            return subprocess.run(
                [sys.executable, *words],
                cwd=ROOT,
                env=self.settings,
                stdout=subprocess.PIPE,
                check=True,
                timeout=START_SECONDS * 5,
            ).stdout
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            raise BenchError(f"{' '.join(words[:2])} failed: {error}") from error


@dataclass
class Deployment:
    """Web processes and workers of a site."""

    site: Site
    web: list[Server] = field(default_factory=list)
    workers: list[int] = field(default_factory=list)


@contextlib.contextmanager
def hosted_site(data: Path) -> Iterator[Site]:
    """A prepared database, Redis and the stub."""
    with ExitStack() as stack:
        url, stub = stack.enter_context(processes.stub_process())
        postgres = stack.enter_context(own_postgres(max_connections=CONNECTIONS, **DURABLE))
        bus = stack.enter_context(redis_server_url())
        settings = accounts(data, url) | {"DATABASE_URL": postgres.url, "REDIS_URL": bus}
        pid = postgres.process.pid
        site = Site(settings, data, postgres.url, pid, postgres.log, bus, stub)
        site.run("manage.py", "prepare")
        yield site


@contextlib.contextmanager
def single_site(data: Path) -> Iterator[Site]:
    """A folder for the SQLite form, and the stub."""
    with processes.stub_process() as (url, stub):
        yield Site(accounts(data, url), data, stub=stub)


def accounts(data: Path, base_url: str) -> dict[str, str]:
    """Settings of a site where people log in."""
    return processes.environment(data, base_url) | {
        "MEMORYWEB_ACCOUNTS": "1",
        "MEMORYWEB_SIGNUP": "closed",
        "MEMORYWEB_SECRET_KEY": secrets.token_urlsafe(50),
        "MEMORYWEB_REQUESTS_LIMIT": "1000000",
    }


@contextlib.contextmanager
def deployed(site: Site, web: int = 1, workers: int = 0) -> Iterator[Deployment]:
    """So many web processes and workers, when they all are ready."""
    with ExitStack() as stack:
        deployment = Deployment(site)
        for number in range(workers):
            log = site.data / f"worker-{number}.log"
            deployment.workers.append(stack.enter_context(worker(site, log)))
        for number in range(web):
            folder = site.data if not site.database else site.data / f"web-{number}"
            folder.mkdir(exist_ok=True)
            deployment.web.append(stack.enter_context(processes.server(site.settings, folder)))
        if workers:
            wait_for_workers(site, workers)
        yield deployment


@contextlib.contextmanager
def worker(site: Site, log: Path) -> Iterator[int]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "procrastinate", "worker"],
            cwd=ROOT,
            env=site.settings,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        yield process.pid
    finally:
        processes.stop(process)


def wait_for_workers(site: Site, count: int) -> None:
    """Wait until so many are registered, and none that was stopped is."""
    sql = "SELECT count(*) FROM procrastinate_workers"

    def registered() -> bool:
        return bool(site.query(sql) == [(count,)])

    processes.wait_until(registered, f"{count} workers do not register.")
