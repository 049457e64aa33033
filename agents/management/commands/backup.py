"""`manage.py backup`: copy the SQLite database, while a server works on it."""

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
    "The data is in Postgres, which has programs of its own for this: pg_dump --format=custom"
    ' --file=memoryweb.dump "$DATABASE_URL" makes a backup, pg_restore puts it back.'
)


class Command(BaseCommand):
    help = "Copy the database, as it is at one moment, to a new file; the server may go on."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file", type=Path, help="Where to; in a directory it is named by the time."
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
            f"{source} was copied to {file} ({file.stat().st_size / 1e6:.1f} MB) and found whole."
            f"\nTo put it back: stop the server, remove {source}-wal and {source}-shm, and copy it"
            f" to {source}. The secret key beside it is no part of it."
        )


def create(file: Path) -> None:
    """An empty file that only this user can read; CommandError where there is one already."""
    try:
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        raise CommandError(f"{file} is there already; name a file that is not.") from None
    except OSError as error:
        raise CommandError(f"{file} cannot be written: {error.strerror}.") from None


def copy(source: Path, file: Path) -> None:
    """Copy all pages in one go, so that whoever writes meanwhile does not have it begin again."""
    with (
        closing(sqlite3.connect(f"{source.as_uri()}?mode=ro", uri=True)) as database,
        closing(sqlite3.connect(file)) as copied,
    ):
        database.backup(copied)
        copied.execute("PRAGMA journal_mode = DELETE")  # it is one file, without a log beside it
        (found,) = copied.execute("PRAGMA integrity_check(1)").fetchone()
        if found != "ok":
            raise sqlite3.DatabaseError(f"the database is damaged ({found})")
