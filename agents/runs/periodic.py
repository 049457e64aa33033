"""What has to be done now and then: in a thread of the single process, or by the workers."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from django.db import close_old_connections

from agents.models import Agent, Approval
from agents.models.database_errors import unavailable
from agents.models.searchable import make_all_terms

from . import engine

logger = logging.getLogger(__name__)
EVERY_SECONDS = 5.0
DAY = 24 * 3600.0


def start() -> None:
    """Do the chores of a single process for as long as it lives."""
    threading.Thread(target=_keep_doing, name="chores", daemon=True).start()


def _keep_doing() -> None:
    purged = time.monotonic()  # the start has just done it
    while True:
        attempt(engine.take_up)
        attempt(Approval.objects.all().expire)
        attempt(make_all_terms)
        if time.monotonic() - purged > DAY and attempt(Agent.objects.purge_expired):
            purged = time.monotonic()
        time.sleep(EVERY_SECONDS)


def attempt(chore: Callable[[], object]) -> bool:
    """Do a chore; False where it failed, and is tried again at the next turn."""
    try:
        chore()
        return True
    except Exception as error:
        if words := unavailable(error):
            logger.warning("A chore waits. %s", words)
        else:
            logger.exception("A chore failed.")
        close_old_connections()
        return False
