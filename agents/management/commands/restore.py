"""`manage.py restore`: put a backup into an empty database, and say what cannot be read with it."""

from __future__ import annotations

from argparse import ArgumentParser
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from agents.management import archive
from agents.management.archive import Manifest
from agents.management.copying import has_data, put_sqlite, restore_postgres, sqlite_file
from agents.management.prepared import data_lock
from agents.models import AuditEntry
from agents.models.encryption import Under
from agents.operations.checks.database import unprepared
from agents.operations.kept_secrets import counted
from memoryweb.data_folder import SECRET_KEY_FILE

NOT_EMPTY = (
    "The database has data already; nothing was restored. Name an empty one, or say --replace: then"
    " all that is in it is replaced."
)
WITHOUT_KEY = (
    "The backup has no key, and this server has another: people log in again, and {unreadable}. If"
    f" you have the old key, name it in MEMORYWEB_SECRET_KEY_FALLBACKS, and run `{settings.COMMAND}"
    " rotate_keys`."
)
OTHER_KEY = (
    "MEMORYWEB_SECRET_KEY is another key than that of the backup: people log in again, and"
    " {unreadable}. `tar -xOf {file} secret_key` prints the backup's; name it in"
    f" MEMORYWEB_SECRET_KEY_FALLBACKS, and run `{settings.COMMAND} rotate_keys`."
)
SAME_KEY = (
    "The key is that of the backup, and {unreadable}. They were stored under a key before it: name"
    " that in MEMORYWEB_SECRET_KEY_FALLBACKS, if you have it, and run"
    f" `{settings.COMMAND} rotate_keys`."
)
TOKENS = "Passwords, passkeys and tokens of scripts hold: they need no key."


class Command(BaseCommand):
    help = (
        "Put a backup of"
        f" `{settings.COMMAND} backup` into an empty database; stop web and workers first."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--replace", action="store_true", help="Replace what the database has already."
        )

    def handle(self, *args: Any, file: Path, replace: bool, **options: Any) -> None:
        with TemporaryDirectory(dir=settings.DATA, prefix=".restoring-") as folder:
            manifest = archive.unpack(file, Path(folder))
            self.put(manifest, Path(folder), replace=replace)
            key = self.keep_key(manifest, Path(folder))
        self.stdout.write(f"Restored from {file}, made at {manifest.made_at}.")
        if missing := unprepared():
            self.stdout.write(f"Next: {missing}.")
            return
        AuditEntry.record(AuditEntry.Action.RESTORED, made_at=manifest.made_at)
        self.stdout.write(self.about_key(manifest, key, file))

    def put(self, manifest: Manifest, folder: Path, *, replace: bool) -> None:
        """Put the database in its place. CommandError if it is of another form, or not empty."""
        if manifest.database != connection.vendor:
            raise CommandError(
                f"The backup is of {manifest.database}, and this server is on {connection.vendor}."
                " Agents move from one to the other by"
                f" `{settings.COMMAND} export_agent` and `import_agent`."
            )
        part = folder / archive.DATABASES[manifest.database]
        with nullcontext() if settings.HOSTED else data_lock():
            if not replace and has_data():
                raise CommandError(NOT_EMPTY)
            restore_postgres(part) if settings.HOSTED else put_sqlite(part, sqlite_file())

    def keep_key(self, manifest: Manifest, folder: Path) -> str:
        """Keep the backup's key, unless the environment names one; the key that holds from now."""
        if settings.SECRET_KEY_NAMED or not manifest.has_key:
            return str(settings.SECRET_KEY)
        key = (folder / archive.KEY).read_text()
        place = settings.DATA / SECRET_KEY_FILE
        if place.exists() and place.read_text() != key:
            place.replace(place.with_name(f"{SECRET_KEY_FILE}.replaced"))
        place.touch(mode=0o600)
        place.write_text(key)
        return key

    def about_key(self, manifest: Manifest, key: str, file: Path) -> str:
        """What cannot be read with the key that holds, in words."""
        lost, same = counted(Under.UNKNOWN, key), archive.fingerprint(key) == manifest.key_sha256
        if same and not lost:
            return "The key is that of the backup: all secrets can be read."
        words = f"these cannot be read: {lost}" if lost else "all secrets can be read"
        template = SAME_KEY if same else OTHER_KEY if manifest.has_key else WITHOUT_KEY
        return f"{template.format(unreadable=words, file=file)} {TOKENS}"
