"""Empty Postgres: workers and web processes wait, two processes prepare, all start."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest

from tests.support.fake_openai import FakeOpenAI, text
from tests.support.server import ROOT, MemoryWeb, eventually
from tests.support.site import own_database

pytestmark = [pytest.mark.hosted_only, pytest.mark.slow]


@contextmanager
def started(name: str, server: MemoryWeb, *words: str) -> Iterator[Path]:
    """A command that goes on until the end of the block; its log."""
    log = server.data / f"{name}.log"
    with log.open("wb") as output:
        child = subprocess.Popen(
            [sys.executable, "manage.py", *words],
            cwd=ROOT,
            env=server.environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        yield log
    finally:
        child.kill()
        child.wait()


def has_said(log: Path, words: str) -> bool:
    return words in log.read_text()


def test_who_starts_before_the_database_is_prepared_waits_for_it(
    tmp_path: Path, model: FakeOpenAI
) -> None:
    model.default = text("Hello to you.")
    with own_database() as database, ExitStack() as stack:
        urls = {"DATABASE_URL": database, "REDIS_URL": os.environ["REDIS_URL"]}
        web = MemoryWeb(tmp_path / "data", model, **urls)
        web.data.mkdir()
        serve = ("serve", "--port", str(web.port))
        logs = [
            stack.enter_context(started("worker", web, "procrastinate", "worker")),
            stack.enter_context(started("serve", web, *serve)),
        ]
        for log in logs:
            eventually(partial(has_said, log, "Waiting: migrations are missing"))
        with started("one", web, "prepare") as one, started("two", web, "prepare") as two:
            for log in (one, two):
                eventually(partial(has_said, log, "is prepared for this version"), 60)
        eventually(web.answers)
        agent = web.make_agent()
        with web.page(agent) as page:
            page.send("Hello")
            page.wait_for("Hello to you.")


def test_who_waits_for_too_long_ends_with_an_error(tmp_path: Path) -> None:
    with own_database() as database:
        web = MemoryWeb(tmp_path, DATABASE_URL=database, MEMORYWEB_PREPARE_WAIT="0.5")
        ended = web.command("procrastinate", "worker")
    assert ended.returncode == 1
    assert "Run `manage.py prepare` once for each version" in ended.stderr
    assert "Traceback" not in ended.stderr
