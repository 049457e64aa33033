"""The database into a file and back: by SQLite itself, or by Postgres' own programs."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
from contextlib import closing, suppress
from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError
from django.db import DatabaseError, connection

CONNECTION = re.compile(r"(host|port|user|dbname|ssl\w+|service)$")
NOT_OURS = re.compile(r"^\d+;.* (EXTENSION|SCHEMA) |^\d+;.* COMMENT - (EXTENSION|SCHEMA) ")
VECTOR = re.compile(r" EXTENSION - vector ")
WHERE = "Debian has it in postgresql-client; one of another version may be put first in PATH."


# -- SQLite ----------------------------------------------------------------------------------------


def copy_sqlite(source: Path, file: Path) -> None:
    """Copy all pages at once: a copy in steps starts again whenever somebody writes."""
    if not source.exists() or not source.stat().st_size:
        raise CommandError(f"There is no database at {source}; nothing was copied.")
    try:
        with (
            closing(sqlite3.connect(f"{source.as_uri()}?mode=ro", uri=True)) as database,
            closing(sqlite3.connect(file)) as copied,
        ):
            database.backup(copied)
            copied.execute("PRAGMA journal_mode = DELETE")  # one file, without a log beside it
            (result,) = copied.execute("PRAGMA integrity_check(1)").fetchone()
            if result != "ok":
                raise sqlite3.DatabaseError(f"the database is damaged ({result})")
    except sqlite3.Error as error:
        raise CommandError(f"No backup was made: {error}.") from None


def put_sqlite(file: Path, target: Path) -> None:
    """Put a database in the place of another, which nobody uses; that one stays beside it."""
    connection.close()
    for end in ("-wal", "-shm"):
        target.with_name(target.name + end).unlink(missing_ok=True)
    if target.exists() and target.stat().st_size:
        os.replace(target, target.with_name(target.name + ".replaced"))
    placed = target.with_name(target.name + ".restoring")
    shutil.copyfile(file, placed)
    placed.chmod(0o600)
    os.replace(placed, target)


# -- Postgres --------------------------------------------------------------------------------------


def dump_postgres(file: Path) -> None:
    """The database as it is at one moment, in the form that pg_restore reads."""
    run("pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={file}")


def restore_postgres(file: Path) -> None:
    """Replace the database's tables by those of a dump, all or none."""
    contents = run("pg_restore", "--list", str(file), connects=False).splitlines()
    ours = file.with_suffix(".list")  # extensions belong to the server's administrator
    ours.write_text("\n".join(line for line in contents if not NOT_OURS.search(line)))
    if any(VECTOR.search(line) for line in contents):
        with suppress(DatabaseError), connection.cursor() as cursor:
            cursor.execute("CREATE EXTENSION IF NOT EXISTS vector")
    close_all()
    run(
        "pg_restore",
        *("--clean", "--if-exists", "--no-owner", "--no-privileges", "--single-transaction"),
        f"--use-list={ours}",
        str(file),
    )


def close_all() -> None:
    """This process's connections would hold what is replaced."""
    connection.close()
    if connection.pool:  # type: ignore[attr-defined]
        connection.close_pool()  # type: ignore[attr-defined]


def run(program: str, *arguments: str, connects: bool = True) -> str:
    """Call one of Postgres' programs on the database. CommandError in its words."""
    executable = shutil.which(program)
    if not executable:
        raise CommandError(f"There is no {program} here, which this needs. {WHERE}")
    environment = dict(os.environ)
    named: list[str] = []
    if connects:
        parameters = connection.get_connection_params()
        if password := parameters.get("password"):
            environment["PGPASSWORD"] = str(password)  # not among the arguments, which all can see
        pairs = [(name, str(value)) for name, value in parameters.items() if CONNECTION.match(name)]
        named.append("--dbname=" + " ".join(f"{name}={quoted(value)}" for name, value in pairs))
    ended = subprocess.run(
        [executable, *named, *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        words = ended.stderr.strip().replace("\n", " ")[:1000]
        advice = (
            f" {WHERE}" if "version mismatch" in words or "unsupported version" in words else ""
        )
        raise CommandError(f"{program} failed: {words}{advice}")
    return ended.stdout


def quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def has_data() -> bool:
    """Whether somebody has something in the database already."""
    tables = ("agents_agent", "auth_user")
    with connection.cursor() as cursor:
        there = set(connection.introspection.table_names(cursor))
        for table in tables:
            if table in there:
                cursor.execute(f"SELECT 1 FROM {table} LIMIT 1")
                if cursor.fetchone():
                    return True
    return False


def sqlite_file() -> Path:
    return Path(settings.DATABASES["default"]["NAME"])
