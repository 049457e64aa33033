"""The engine: where runs execute. Threads of this process, or Procrastinate workers on Postgres.

Either way a run is handed over in the transaction that begins it, and is executed by
`run_agent(run_id)`, which goes on from whatever is stored.
"""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import close_old_connections, connection, transaction

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from agents.models import Run

logger = logging.getLogger(__name__)


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(settings.RUN_THREADS, thread_name_prefix="run")


def submit(run: Run) -> None:
    """Have a run executed once the transaction that began it is committed."""
    if settings.HOSTED:
        from .tasks import execute_run

        execute_run.defer(run_id=run.pk)
    else:
        transaction.on_commit(partial(_threads().submit, execute, run.pk))


def execute(run_id: int) -> None:
    """Execute a run on this thread; whatever goes wrong is in the log and on the run."""
    from .loop import run_agent

    try:
        run_agent(run_id)
    except Exception:
        logger.exception("Run %s broke off.", run_id)
    finally:
        if connection.vendor != "sqlite":  # a file's connection stays with its thread
            close_old_connections()


def resume() -> int:
    """Go on with every run that a stopped process left; at the start of a single process."""
    from .models import Run

    return hand_over(Run.objects.running())


@transaction.atomic
def hand_over(runs: QuerySet[Run]) -> int:
    """Have runs executed whose workers are dead; how many there were."""
    handed = list(runs.select_for_update())
    runs.filter(pk__in=[run.pk for run in handed]).update(seen_at=None)
    for run in handed:
        submit(run)
    return len(handed)
