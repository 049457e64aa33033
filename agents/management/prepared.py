"""Preparing the database: once, by one process, while those that will use it wait."""

from __future__ import annotations

import fcntl
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from django.conf import settings
from django.core.management.base import CommandError
from django.db import connection

from agents.operations.checks.database import BEING_PREPARED, MIGRATING, unprepared
from memoryweb.data_folder import LOCK
from memoryweb.static_files import gather

from .tables import bring_up_to_date

logger = logging.getLogger(__name__)
LOOK_SECONDS = 0.5


def prepare() -> None:
    """Migrate the tables and gather the static files; if several processes do, one at a time."""
    with postgres_lock() if settings.HOSTED else data_lock():
        bring_up_to_date()
        gather()


@contextmanager
def postgres_lock() -> Iterator[None]:
    """Hold the lock of whoever prepares. CommandError if it is not free in time.

    A process that waited inside `pg_advisory_lock` would block CREATE INDEX CONCURRENTLY.
    """
    waiting = Waiting()
    with connection.cursor() as cursor:
        while not _asked(cursor, "pg_try_advisory_lock"):
            waiting.look_again(BEING_PREPARED)
        try:
            yield
        finally:
            _asked(cursor, "pg_advisory_unlock")


def _asked(cursor: Any, function: str) -> bool:
    cursor.execute(f"SELECT {function}(%s)", [MIGRATING])
    return bool(cursor.fetchone()[0])


@contextmanager
def data_lock() -> Iterator[None]:
    lock = lock_data()
    try:
        yield
    finally:
        lock.close()


def lock_data() -> TextIO:
    """Lock the data directory: only one process at a time uses a SQLite file."""
    try:
        lock = (settings.DATA / LOCK).open("w")
    except OSError as error:
        raise CommandError(
            f"The data directory {settings.DATA} cannot be written: {error.strerror}. Let this user"
            " write there, or set MEMORYWEB_DATA to another directory."
        ) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise CommandError(
            f"Another memoryweb already uses {settings.DATA}; stop it first, or set"
            " MEMORYWEB_DATA to another directory."
        ) from None
    return lock


# -- waiting for it --------------------------------------------------------------------------------


def wait_until_prepared() -> None:
    """Wait until somebody has prepared the database. CommandError if nobody does in time."""
    waiting = Waiting()
    while missing := unprepared():
        connection.close()
        waiting.look_again(missing)
    connection.close()
    if waiting.told:
        logger.warning("The database is prepared.")


class Waiting:
    """Waits a moment at a time, says what for when that changes, and gives up in the end."""

    def __init__(self) -> None:
        self.until = time.monotonic() + settings.PREPARE_WAIT
        self.told = ""

    def look_again(self, missing: str) -> None:
        """Wait a moment. CommandError when the time is over."""
        if missing != self.told:
            logger.warning("Waiting: %s.", missing)
            self.told = missing
        if time.monotonic() > self.until:
            raise CommandError(
                f"Waited {settings.PREPARE_WAIT:g} s, and still {missing}. Run"
                f" `{settings.COMMAND} prepare`"
                " once for each version, or allow more time with MEMORYWEB_PREPARE_WAIT."
            )
        time.sleep(LOOK_SECONDS)
