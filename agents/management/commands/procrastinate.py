"""`manage.py procrastinate`: Procrastinate's commands, with a worker that outlives its database.

Procrastinate's own worker ends when it loses Postgres, be it for the moment that a restart takes,
and when it finds no tables there; this one waits for `manage.py prepare`.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
import time
from contextlib import suppress
from typing import Any

from django.conf import settings

if not settings.HOSTED:
    sys.exit("Runs execute in workers on Postgres only: set DATABASE_URL. On SQLite `serve` does.")

from procrastinate import App, cli, signals
from procrastinate.contrib.django import app
from procrastinate.contrib.django.management.commands import procrastinate

from agents.llm import clients
from agents.models import leaving
from agents.models.database_errors import unavailable
from agents.operations import connections
from agents.runs.jobs import with_job_id
from agents.runs.worker import Worker, connector
from agents.templatetags.fragments import compile_all
from memoryweb.variables import unknown_variables

from ..prepared import wait_until_prepared

logger = logging.getLogger(__name__)
END_SECONDS = 18  # after the signal; a step in hand has some of them (agents/models/leaving.py)
AGAIN_SECONDS = 1.0  # before a worker that lost the database looks for it


class Command(procrastinate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        if options.get("func") is not cli.worker_:
            super().handle(*args, **options)
            return
        for words in unknown_variables():
            self.stderr.write(words)
        connections.announce("worker")
        wait_until_prepared()
        compile_all()
        clients.warm_up()
        others = {*self._django_options, "command", "func"}
        given = {name: value for name, value in options.items() if name not in others}
        asyncio.run(keep_working(app, **given))  # the library's own way ends without a database


async def keep_working(app: App, **options: Any) -> None:
    """Work until a signal says to stop; if the database is lost, continue when it is back."""
    stopped = asyncio.Event()

    def stop() -> None:
        leaving.leave()
        threading.Thread(target=end_in_time, name="end", daemon=True).start()
        stopped.set()

    with signals.on_stop(stop), app.replace_connector(connector()):
        while not await work(app, stopped, options):
            logger.warning("This worker lost the database; it continues when that is back.")
            with suppress(TimeoutError):
                await asyncio.wait_for(stopped.wait(), AGAIN_SECONDS)


def end_in_time() -> None:
    """End a worker that does not come to its end; others go on with what it had."""
    time.sleep(END_SECONDS)
    logger.warning("This worker did not end within %s s; others go on.", END_SECONDS)
    os._exit(0)


async def work(app: App, stopped: asyncio.Event, options: dict[str, Any]) -> bool:
    """Work with new connections; False if the database was lost.

    A job that it had started is taken over when its heartbeats stop. If the worker is cancelled, it
    finishes its job first.
    """
    working = asyncio.create_task(connect_and_work(app, options))
    stopping = asyncio.create_task(stopped.wait())
    await asyncio.wait([working, stopping], return_when=asyncio.FIRST_COMPLETED)
    working.cancel()
    stopping.cancel()
    try:
        await working
    except asyncio.CancelledError:
        return True
    except Exception as error:
        if not unavailable(error):
            raise
        return stopped.is_set()
    return stopped.is_set() or not options.get("wait", True)  # else one of its own tasks ended it


async def connect_and_work(app: App, options: dict[str, Any]) -> None:
    await app.close_async()
    await app.open_async()
    app.perform_import_paths()  # type: ignore[no-untyped-call]
    around = [*app.worker_defaults.get("task_middleware", []), with_job_id]
    own: dict[str, Any] = {"install_signal_handlers": False, "task_middleware": around}
    worker = Worker(app, **{**app.worker_defaults, **options, **own})
    await worker.run()  # type: ignore[no-untyped-call]
