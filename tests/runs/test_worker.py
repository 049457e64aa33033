"""The workers' own: no job that is announced is missed, and a resting connection is tried."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import call_command
from procrastinate import App
from procrastinate.testing import InMemoryConnector
from psycopg_pool import AsyncConnectionPool

from agents.runs import worker
from agents.runs.worker import Connection, Worker


@pytest.fixture
def app() -> App:
    return App(connector=InMemoryConnector())


async def test_a_job_that_is_announced_during_a_fetch_is_looked_for_at_once(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetching = Worker(app)
    fetching.worker_id = 1
    fetches: list[int] = []

    async def fetch_job(**options: Any) -> None:
        """Finds nothing; the job is stored, and announced, when the first look is over."""
        fetches.append(len(fetches))
        if len(fetches) == 1:
            announced: Any = {"type": "job_inserted", "job_id": 7}
            await fetching._handle_notification(channel="any", notification=announced)

    monkeypatch.setattr(app.job_manager, "fetch_job", fetch_job)
    await fetching._fetch_and_process_jobs()
    assert len(fetches) == 2


async def test_nothing_more_is_fetched_when_nothing_was_announced(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetching = Worker(app)
    fetching.worker_id = 1
    fetches: list[int] = []

    async def fetch_job(**options: Any) -> None:
        fetches.append(len(fetches))

    monkeypatch.setattr(app.job_manager, "fetch_job", fetch_job)
    await fetching._fetch_and_process_jobs()
    assert len(fetches) == 1


async def test_a_connection_is_tried_only_where_it_rested(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[object] = []
    now = 100.0

    async def try_it(connection: object) -> None:
        tried.append(connection)

    monkeypatch.setattr(AsyncConnectionPool, "check_connection", staticmethod(try_it))
    monkeypatch.setattr(worker, "monotonic", lambda: now)
    connection = Connection.__new__(Connection)
    await worker._check(connection)
    now += worker.RESTED_SECONDS / 2
    await worker._check(connection)
    assert len(tried) == 1
    now += worker.RESTED_SECONDS * 2
    await worker._check(connection)
    assert len(tried) == 2


@pytest.mark.hosted_only
def test_a_worker_begins_to_work_whether_or_not_the_database_is_there_at_that_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from agents.management.commands import procrastinate as command

    begun: list[int] = []

    async def keep_working(app: Any, **options: Any) -> None:
        begun.append(options["concurrency"])

    def opened(app: Any) -> None:
        pytest.fail("The library opens its connections, and ends where it cannot.")

    monkeypatch.setattr(App, "open_async", opened)
    monkeypatch.setattr(command, "wait_until_prepared", lambda: None)
    monkeypatch.setattr("agents.operations.connections.announce", lambda role: None)
    monkeypatch.setattr(command, "keep_working", keep_working)
    call_command("procrastinate", "worker", "--concurrency", "3")
    assert begun == [3]
