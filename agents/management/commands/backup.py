"""`manage.py backup`: database and secret key in one file, also while a server uses them."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from agents.management import archive
from agents.management.copying import copy_sqlite, dump_postgres, sqlite_file
from agents.models import AuditEntry
from agents.operations.checks.database import unprepared


class Command(BaseCommand):
    help = "Copy the database, as it is at one moment, and the secret key to a new file."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file", type=Path, help="The new file, or a directory; there it is named by the time."
        )
        parser.add_argument("--without-key", action="store_true", help="Leave the secret key out.")

    def handle(self, *args: Any, file: Path, without_key: bool, **options: Any) -> None:
        if file.is_dir():
            file /= f"memoryweb-{timezone.now():%Y-%m-%d-%H%M%S}.backup"
        archive.create(file)
        try:
            with TemporaryDirectory(dir=file.parent, prefix=".memoryweb-") as folder:
                make(file, Path(folder), with_key=not without_key)
        except BaseException:
            file.unlink()
            raise
        if not unprepared():  # else this version's tables are not there yet
            AuditEntry.record(AuditEntry.Action.BACKED_UP, file=file.name, with_key=not without_key)
        words = f"{file} holds the database ({file.stat().st_size / 1e6:.1f} MB), checked"
        if without_key:
            key = "not the secret key: without it secrets of agents cannot be read"
        else:
            key = "the secret key: keep it where nobody else can read it"
        self.stdout.write(f"{words}, and {key}.\n`{settings.COMMAND} restore {file}` puts it back.")


def make(file: Path, folder: Path, *, with_key: bool) -> None:
    """Write a backup, whose parts are made in a folder."""
    part = folder / archive.DATABASES[connection.vendor]
    dump_postgres(part) if settings.HOSTED else copy_sqlite(sqlite_file(), part)
    parts = [part]
    if with_key:
        key = folder / archive.KEY
        key.touch(mode=0o600)
        key.write_text(settings.SECRET_KEY)
        parts.append(key)
    manifest = archive.Manifest(
        made_at=timezone.now().isoformat(timespec="seconds"),
        database=connection.vendor,
        migrations=applied(),
        key_sha256=archive.fingerprint(settings.SECRET_KEY),
    )
    archive.pack(file, manifest, parts)


def applied() -> list[str]:
    """The newest migration of each application."""
    newest: dict[str, str] = {}
    for app, name in MigrationRecorder(connection).applied_migrations():
        newest[app] = max(name, newest.get(app, ""))
    return sorted(f"{app}.{name}" for app, name in newest.items())
