"""`manage.py backup`: copy the SQLite database, also while a server uses it."""

from __future__ import annotations

import os
import sqlite3
from argparse import ArgumentParser
from contextlib import closing
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

PG_DUMP = (
    "The data is in Postgres, which has its own programs for this: pg_dump --format=custom"
    ' --file=memoryweb.dump "$DATABASE_URL" makes a backup, pg_restore restores it.'
)


class Command(BaseCommand):
    help = "Copy the database, as it is at one moment, to a new file; the server may be running."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file", type=Path, help="The new file, or a directory; there it is named by the time."
        )

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        if settings.HOSTED:
            raise CommandError(PG_DUMP)
        source = Path(settings.DATABASES["default"]["NAME"])
        if not source.exists() or not source.stat().st_size:
            raise CommandError(f"There is no database at {source}; nothing was copied.")
        if file.is_dir():
            file /= f"memoryweb-{timezone.now():%Y-%m-%d-%H%M%S}.sqlite3"
        create(file)
        try:
            copy(source, file)
        except sqlite3.Error as error:
            file.unlink()
            raise CommandError(f"No backup was made to {file}: {error}.") from None
        except BaseException:
            file.unlink()
            raise
        self.stdout.write(
            f"{source} was copied to {file} ({file.stat().st_size / 1e6:.1f} MB) and checked."
            f"\nTo restore it: stop the server, remove {source}-wal and {source}-shm, and copy it"
            f" to {source}. The backup does not contain the secret key."
        )


def create(file: Path) -> None:
    """Create an empty file that only this user can read; CommandError if it exists."""
    try:
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        raise CommandError(f"{file} already exists; name a new file.") from None
    except OSError as error:
        raise CommandError(f"{file} cannot be written: {error.strerror}.") from None


def copy(source: Path, file: Path) -> None:
    """Copy all pages at once: a copy in steps starts again whenever somebody writes."""
    with (
        closing(sqlite3.connect(f"{source.as_uri()}?mode=ro", uri=True)) as database,
        closing(sqlite3.connect(file)) as copied,
    ):
        database.backup(copied)
        copied.execute("PRAGMA journal_mode = DELETE")  # one file, without a log beside it
        (result,) = copied.execute("PRAGMA integrity_check(1)").fetchone()
        if result != "ok":
            raise sqlite3.DatabaseError(f"the database is damaged ({result})")
