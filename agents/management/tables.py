"""The database when a server starts and stops: checked, migrated, and in one file."""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import DatabaseError, connection
from django.db.migrations.exceptions import InconsistentMigrationHistory
from django.db.migrations.loader import MigrationLoader

from agents.models.database_errors import DAMAGED, database_problem

logger = logging.getLogger(__name__)
LARGEST_CHECKED = 256 * 1024 * 1024  # bytes; checking a larger file would delay the start
CHECKPOINT_SECONDS = 2

OTHER_VERSION = (
    "The database in {place} was made by another version of memoryweb ({difference}), which this"
    " one cannot bring up to date. Start that version again, export each agent there"
    f" (`{settings.COMMAND}"
    " export_agent`), and import it here; or start with an empty {variable}."
)


def bring_up_to_date() -> None:
    """Create and migrate the tables; CommandError if this version cannot."""
    if connection.vendor == "sqlite":
        check_file()
    if unknown := unknown_migrations():
        raise other_version(f"it knows of {unknown[0]}")
    try:
        call_command("migrate", verbosity=0, interactive=False)
    except (DatabaseError, InconsistentMigrationHistory) as error:
        if isinstance(error, DatabaseError) and database_problem(error):
            raise
        raise other_version(str(error).strip().partition("\n")[0]) from error
    if missing := missing_columns():
        raise other_version(f"it has no {missing[0]}")


def check_file() -> None:
    """CommandError if pages of SQLite's file are damaged."""
    path = Path(settings.DATABASES["default"]["NAME"])
    if not path.exists() or path.stat().st_size > LARGEST_CHECKED:
        return
    with connection.cursor() as cursor:
        (mapped,) = cursor.execute("PRAGMA mmap_size").fetchone()
        cursor.execute("PRAGMA mmap_size = 0")  # else all of the file stays in memory
        (result,) = cursor.execute("PRAGMA quick_check(1)").fetchone()
        cursor.execute("PRAGMA shrink_memory")
        cursor.execute(f"PRAGMA mmap_size = {mapped}")
    if result != "ok":
        raise CommandError(DAMAGED.format(error=result.partition("\n")[2] or result))


def unknown_migrations() -> list[str]:
    """Applied migrations of memoryweb that this version does not have."""
    loader = MigrationLoader(connection)
    applied = {(app, name) for app, name in loader.applied_migrations if app == "agents"}
    return sorted(f"migration {name}" for _, name in applied - set(loader.disk_migrations))


def missing_columns() -> list[str]:
    """Tables and columns of the models that the database does not have."""
    missing = []
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        for model in apps.get_app_config("agents").get_models():
            name, fields = model._meta.db_table, model._meta.concrete_fields
            if name not in tables:
                missing.append(f"table {name}")
                continue
            columns = connection.introspection.get_table_description(cursor, name)
            existing = {column.name for column in columns}
            missing += [f"column {name}.{f.column}" for f in fields if f.column not in existing]
    return missing


def other_version(difference: str) -> CommandError:
    place, variable = settings.DATA, "MEMORYWEB_DATA"
    if settings.HOSTED:
        place, variable = connection.settings_dict["NAME"], "DATABASE_URL"
    return CommandError(OTHER_VERSION.format(place=place, difference=difference, variable=variable))


def checkpoint() -> None:
    """Move the newest changes from SQLite's log into its file; those left in the log are safe."""
    with suppress(DatabaseError), connection.cursor() as cursor:
        cursor.execute(f"PRAGMA busy_timeout = {CHECKPOINT_SECONDS * 1000}")
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
