"""What `manage.py serve` does with its process and its database before it serves."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from django.core.management.base import CommandError
from django.db import connection

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
