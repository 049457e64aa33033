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
    database.secrets,
    database.connections,
    database.clock,
    machine.disk,
    outside.models,
    machine.static_files,
    machine.secret_key,
    machine.variables,
)
OF_TABLES = (database.workers, database.secrets, outside.models)


def carried_out(checks: Iterable[Callable[[], Found]]) -> list[Found]:
    """What was found, in order; a check that itself fails is one that failed. Where the database
    does not answer, nothing else is asked of it: each time it would be waited for. Where its tables
    are missing, nothing that needs them is."""
    found: list[Found] = []
    away = bare = False
    for check in checks:
        if away and check.__module__ == database.__name__:
            found.append(failed(_name(check), "not looked at, as the database does not answer"))
        elif bare and check in OF_TABLES:
            found.append(failed(_name(check), "not looked at, as migrations are missing"))
        else:
            found.append(_carried_out(check))
        newest = found[-1]
        away = away or (newest.name, newest.state) == ("database", FAILED)
        bare = bare or (newest.name, newest.state) == ("migrations", FAILED)
    return found


def _name(check: Callable[[], Found]) -> str:
    return check.__name__.removeprefix("is_").replace("_", " ")


def _carried_out(check: Callable[[], Found]) -> Found:
    try:
        return check()
    except Exception as error:
        logger.debug("A check failed.", exc_info=True)
        return failed(_name(check), f"{type(error).__name__}: {error}".partition("\n")[0])
