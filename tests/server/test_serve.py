"""What `manage.py serve` does with its process and its database before it serves; backups."""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from pytest_django import Settings

from agents.management.commands.serve import keep_to_one_core
from agents.management.tables import bring_up_to_date
from agents.models.database_errors import database_problem, unavailable


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system chooses the cores")
def test_all_threads_keep_to_one_core() -> None:
    before = os.sched_getaffinity(0)
    try:
        keep_to_one_core()
        kept = os.sched_getaffinity(0)
        assert len(kept) == 1
        assert kept <= before
    finally:
        os.sched_setaffinity(0, before)


# -- the database it finds -------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_database_of_this_version_is_brought_up_to_date_again() -> None:
    bring_up_to_date()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("sql", "difference"),
    [
        (
            "INSERT INTO django_migrations (app, name, applied)"
            " VALUES ('agents', '0002_passages', CURRENT_TIMESTAMP)",
            "it knows of migration 0002_passages",
        ),
        ("ALTER TABLE agents_block DROP COLUMN description", "column agents_block.description"),
        ("ALTER TABLE agents_tool RENAME TO tools", "it has no table agents_tool"),
    ],
)
def test_a_database_of_another_version_is_refused_with_what_to_do(
    sql: str, difference: str
) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)
    with pytest.raises(CommandError) as refused:
        bring_up_to_date()
    words = str(refused.value)
    assert "was made by another version of memoryweb" in words
    assert difference in words
    assert "export_agent" in words


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"no database at all " * 1000, "damaged (file is not a database)"),
        (None, "not those of this version of memoryweb (no such table: agents_agent)"),
    ],
)
def test_what_is_wrong_with_a_file_is_explained(
    content: bytes | None, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "memoryweb.sqlite3"
    if content:
        path.write_bytes(content)
    with closing(sqlite3.connect(path)) as database, pytest.raises(sqlite3.Error) as failed:
        database.execute("SELECT id FROM agents_agent")
    assert words in database_problem(failed.value)
    assert not unavailable(failed.value)


def test_an_error_that_is_not_the_databases_is_not_explained() -> None:
    assert database_problem(ValueError("no such table")) == ""
    assert database_problem(sqlite3.OperationalError("near 'SELEC': syntax error")) == ""


# -- backups ---------------------------------------------------------------------------------------


@pytest.fixture
def source(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database with a thousand rows, in which the last of them are in the log beside it."""
    path = tmp_path / "memoryweb.sqlite3"
    monkeypatch.setitem(settings.DATABASES["default"], "NAME", path)
    settings.HOSTED = False
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE said (words)")
        database.executemany("INSERT INTO said VALUES (?)", [("Hello " * 100,)] * 1000)
        database.commit()
    return path


def rows(path: Path) -> int:
    with closing(sqlite3.connect(path)) as database:
        (count,) = database.execute("SELECT count(*) FROM said").fetchone()
    return int(count)


def backup(path: Path) -> str:
    told = StringIO()
    call_command("backup", str(path), stdout=told)
    return told.getvalue()


def test_a_backup_has_all_rows_and_is_for_this_user_alone(source: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite3"
    with closing(sqlite3.connect(source)) as writing:
        writing.execute("INSERT INTO said VALUES ('not committed')")
        assert "and checked" in backup(copy)
    assert rows(copy) == 1000
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.glob("copy*")) == ["copy.sqlite3"]


def test_a_backup_overwrites_nothing_and_is_named_by_the_time_in_a_directory(
    source: Path, tmp_path: Path
) -> None:
    backups = tmp_path / "backups"
    backups.mkdir()
    backup(backups)
    (made,) = backups.iterdir()
    assert rows(made) == 1000
    with pytest.raises(CommandError, match="already exists"):
        backup(made)
    assert rows(made) == 1000


def test_a_backup_of_a_damaged_database_is_not_left_behind(source: Path, tmp_path: Path) -> None:
    whole = source.read_bytes()
    source.write_bytes(whole[:8192] + b"\xff" * 40_960 + whole[49_152:])
    with pytest.raises(CommandError, match=r"No backup was made.*(damaged|malformed)"):
        backup(tmp_path / "copy.sqlite3")
    assert not list(tmp_path.glob("copy*"))


@pytest.mark.parametrize("place", ["missing/copy.sqlite3", "memoryweb.sqlite3/copy.sqlite3"])
def test_a_backup_to_where_nothing_can_be_written_is_refused(
    place: str, source: Path, tmp_path: Path
) -> None:
    with pytest.raises(CommandError, match="cannot be written"):
        backup(tmp_path / place)


def test_on_postgres_a_backup_is_pg_dumps_business(settings: Settings, tmp_path: Path) -> None:
    settings.HOSTED = True
    with pytest.raises(CommandError, match="pg_dump"):
        backup(tmp_path / "copy.sqlite3")
    assert not list(tmp_path.iterdir())
