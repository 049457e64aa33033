"""Checks: is what memoryweb needs there, and does it work; each says what to do where not.

`ESSENTIAL` are cheap, for `/readyz`; `ALL` are for `manage.py doctor`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from . import database, machine, outside
from .check import Check, Found, failed

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
    """What was found, in order; a check that itself fails is one that failed."""
    return [_carried_out(check) for check in checks]


def _carried_out(check: Callable[[], Found]) -> Found:
    try:
        return check()
    except Exception as error:
        logger.debug("A check failed.", exc_info=True)
        name = check.__name__.replace("_", " ")
        return failed(name, f"{type(error).__name__}: {error}".partition("\n")[0])
