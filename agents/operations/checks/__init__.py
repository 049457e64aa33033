"""Checks: is what memoryweb needs there, and does it work; each says what to do where not.

`ESSENTIAL` are cheap, for `/readyz`; `ALL` are for `manage.py doctor`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from . import database, machine, outside
from .check import FAILED, Check, Found, failed

logger = logging.getLogger(__name__)

ESSENTIAL: tuple[Check, ...] = (
    database.answers,
    database.is_prepared,
    outside.redis,
    database.workers,
)
ALL: tuple[Check, ...] = (
    outside.proxy,
    database.answers,
    database.is_prepared,
    database.pgvector,
    outside.redis,
    database.workers,
    outside.mail,
    database.connections,
    database.clock,
    machine.disk,
    outside.models,
    machine.static_files,
    machine.secret_key,
)


def carried_out(checks: Iterable[Callable[[], Found]]) -> list[Found]:
    """What was found, in order; a check that itself fails is one that failed. Where the database
    does not answer, nothing else is asked of it: each time it would be waited for."""
    found: list[Found] = []
    away = False
    for check in checks:
        found.append(_carried_out(check, away=away and check.__module__ == database.__name__))
        away = away or (found[-1].name, found[-1].state) == ("database", FAILED)
    return found


def _carried_out(check: Callable[[], Found], *, away: bool) -> Found:
    name = check.__name__.removeprefix("is_").replace("_", " ")
    if away:
        return failed(name, "not looked at, as the database does not answer")
    try:
        return check()
    except Exception as error:
        logger.debug("A check failed.", exc_info=True)
        return failed(name, f"{type(error).__name__}: {error}".partition("\n")[0])
