"""Database errors in words: those that pass, as a lock or a full disk does, and those that stay."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator

from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError, IntegrityError
from django.utils.translation import gettext_noop as _

RETRY_SECONDS = 5  # after which whoever was refused may ask again

SQLITE = {
    sqlite3.SQLITE_BUSY: _(
        "The database is locked: something else has been writing to it for long."
    ),
    sqlite3.SQLITE_LOCKED: _("The database is locked: something else is writing to it."),
    sqlite3.SQLITE_FULL: _("The disk is full, so the database cannot store anything."),
    sqlite3.SQLITE_READONLY: _("The database cannot be written: its file or folder is read-only."),
    sqlite3.SQLITE_IOERR: _("The disk fails when the database is read or written."),
    sqlite3.SQLITE_CANTOPEN: _("The database's file cannot be opened."),
}
CONFLICT = _("Something else was changed at the same time.")
POSTGRES = _("The database cannot be reached, or cannot store anything at the moment.")
TOOK_TOO_LONG = "57014"  # as it would the next time

DAMAGED = (
    "The database is damaged ({error}). Put a backup in its place"
    f" ({settings.COMMAND} restore --replace), or"
    " save what can be read with the sqlite3 program's .recover command."
)
OTHER_TABLES = (
    "The database's tables are not those of this version of memoryweb ({error}). If it is new or"
    " was made by an older version,"
    f" `{settings.COMMAND} prepare` brings it up to date or says why not."
)


def unavailable(error: BaseException) -> str:
    """What keeps the database from working just now, in a sentence; "" for any other error.

    Nothing of the transaction in which it came up is stored, and the same may work later.
    """
    return next(filter(None, map(_words, _causes(error))), "")


def is_conflict(error: BaseException) -> bool:
    """Whether a change met another one, or what it belongs to was deleted meanwhile. Nothing of the
    transaction is stored."""
    is_gone = type(error) is DatabaseError  # an update of certain fields found no row
    return is_gone or isinstance(error, (IntegrityError, ObjectDoesNotExist))


def database_problem(error: BaseException) -> str:
    """What is wrong with the database, also where it does not pass; "" if it is something else."""
    if words := unavailable(error):
        detail = str(error).strip().partition("\n")[0]
        return f"{words} ({detail})" if words == POSTGRES else words
    for cause in _causes(error):
        if isinstance(cause, sqlite3.DatabaseError):
            if _code(cause) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                return DAMAGED.format(error=cause)
            if str(cause).startswith(("no such table", "no such column")):
                return OTHER_TABLES.format(error=cause)
        if getattr(cause, "sqlstate", None) in ("42P01", "42703"):  # no such table, no such column
            return OTHER_TABLES.format(error=str(cause).partition("\n")[0])
    return ""


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _words(error: BaseException) -> str:
    if isinstance(error, sqlite3.OperationalError):
        return SQLITE.get(_code(error), "")
    psycopg = sys.modules.get("psycopg")
    if psycopg and isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)):
        return "" if error.sqlstate == TOOK_TOO_LONG else POSTGRES
    return ""


def _code(error: sqlite3.Error) -> int:
    """SQLite's number for an error; 0 for those of Python's own module, which have none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
