"""Procrastinate's worker, for the hosted form: it misses no job, and asks the database less."""

from __future__ import annotations

from time import monotonic
from typing import Any

from procrastinate import PsycopgConnector, worker
from procrastinate.contrib.django.utils import connector_params
from procrastinate.jobs import Notification
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

RESTED_SECONDS = 1.0  # after which a connection is tried before it is used


class Worker(worker.Worker):
    """Procrastinate forgets what is announced during a fetch, be it a job that the fetch could not
    see yet: it would be done at the next look only, seconds later."""

    announced = 0  # jobs

    async def _handle_notification(self, *, channel: str, notification: Notification) -> None:
        self.announced += 1
        await super()._handle_notification(channel=channel, notification=notification)

    async def _fetch_and_process_jobs(self) -> None:
        """Fetch jobs until none is left, once more if one was announced meanwhile."""
        announced = -1
        while announced != self.announced and not self._stop_event.is_set():
            announced = self.announced
            await super()._fetch_and_process_jobs()  # type: ignore[no-untyped-call]


class Connection(AsyncConnection[Any]):
    """A connection of the queue, which knows when it was used."""

    used_at = 0.0


def connector() -> PsycopgConnector:
    """The queue's connections. Each thing that is asked of them is one statement, and so needs no
    BEGIN and no COMMIT."""
    return PsycopgConnector(
        kwargs=connector_params(),
        connection_class=Connection,
        configure=_configure,
        pool_factory=_pool,
    )


def _pool(**options: Any) -> AsyncConnectionPool[Any]:
    return AsyncConnectionPool(**options | {"check": _check})


async def _configure(connection: Connection) -> None:
    await connection.set_autocommit(True)


async def _check(connection: Connection) -> None:
    """Try a connection that nobody used for a while; Procrastinate would each time."""
    if monotonic() - connection.used_at > RESTED_SECONDS:
        await AsyncConnectionPool.check_connection(connection)
    connection.used_at = monotonic()
