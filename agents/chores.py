"""What has to be done now and then: in a thread of the single process, or by the workers."""

from __future__ import annotations

import logging
import threading
import time

from django.db import close_old_connections

from agents.models import Agent, Approval

logger = logging.getLogger(__name__)
EVERY_SECONDS = 5.0
DAY = 24 * 3600.0


def start() -> None:
    """Do the chores of a single process for as long as it lives."""
    threading.Thread(target=_keep_doing, name="chores", daemon=True).start()


def _keep_doing() -> None:
    purged = time.monotonic()  # the start has just done it
    while True:
        try:
            Approval.objects.all().expire()
            if time.monotonic() - purged > DAY:
                Agent.objects.purge_expired()
                purged = time.monotonic()
        except Exception:  # tried again at the next turn
            logger.exception("A chore failed.")
            close_old_connections()
        time.sleep(EVERY_SECONDS)
