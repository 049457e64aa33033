"""Periodic tasks: in a thread of the single process; the workers have their own (`tasks.py`)."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from django.db import close_old_connections

from agents.models import Agent, Approval, Image, Reservation, Schedule
from agents.models.database_errors import unavailable
from agents.models.searchable import make_all_terms

from . import engine, retention

logger = logging.getLogger(__name__)
EVERY_SECONDS = 5.0
HOUR = 3600.0
DAY = 24 * 3600.0
FIRST_PRUNING = 60.0  # seconds after the start, which is busy enough


def start(*slow: Callable[[], object]) -> None:
    """Run the periodic tasks of a single process for as long as it lives.

    Each of the `slow` ones has a thread of its own, so that it keeps no other waiting.
    """
    threading.Thread(target=_keep_doing, name="periodic", daemon=True).start()
    threading.Thread(target=_keep_pruning, name="pruning", daemon=True).start()
    for task in slow:
        threading.Thread(target=_keep_doing_one, args=[task], name="slow", daemon=True).start()


def _keep_doing_one(task: Callable[[], object]) -> None:
    while True:
        attempt(task)
        time.sleep(EVERY_SECONDS)


def _keep_pruning() -> None:
    while True:
        time.sleep(FIRST_PRUNING)
        attempt(retention.prune)
        time.sleep(HOUR)


def _keep_doing() -> None:
    purged = time.monotonic()  # the start has just done it
    while True:
        do_what_is_due()
        attempt(Image.objects.all().delete_unsent)
        attempt(Reservation.settle_expired)
        if time.monotonic() - purged > DAY and attempt(Agent.objects.purge_expired):
            purged = time.monotonic()
        time.sleep(EVERY_SECONDS)


def do_what_is_due() -> None:
    """What is looked for every few seconds, also by the workers."""
    attempt(engine.take_up)
    attempt(Approval.objects.all().expire)
    attempt(Schedule.objects.all().fire_due)
    attempt(Agent.end_temporary)
    attempt(make_all_terms)


def attempt(task: Callable[[], object]) -> bool:
    """Run a task; False where it failed, and is tried again at the next turn."""
    try:
        task()
        return True
    except Exception as error:
        if words := unavailable(error):
            logger.warning("A periodic task waits. %s", words)
        else:
            logger.exception("A periodic task failed.")
        close_old_connections()
        return False
