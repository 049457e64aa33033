"""Web processes and workers wait until `manage.py prepare` has prepared the database."""

from __future__ import annotations

import logging

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.db.utils import OperationalError
from pytest_django import Settings

from agents.management import prepared
from agents.management.prepared import wait_until_prepared
from agents.operations.checks.database import BEING_PREPARED, MIGRATING, unprepared


@pytest.fixture(autouse=True)
def open_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test's transaction needs its connection to the end."""
    monkeypatch.setattr(connection, "close", lambda: None)


@pytest.mark.django_db
def test_a_database_without_a_migration_is_not_prepared() -> None:
    assert "migrations are missing" not in unprepared_by_tables()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'agents'")
    assert "migrations are missing (agents.0001_initial)" in unprepared_by_tables()


def unprepared_by_tables() -> str:
    """SQLite has no advisory locks, which only the hosted form asks for."""
    try:
        return unprepared()
    except OperationalError:
        return ""


def test_who_waits_says_once_what_for_and_gives_up_in_time(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    settings.PREPARE_WAIT = 0.05
    monkeypatch.setattr(prepared, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(prepared, "unprepared", lambda: "migrations are missing")
    with caplog.at_level(logging.WARNING), pytest.raises(CommandError) as refused:
        wait_until_prepared()
    assert "still migrations are missing. Run `manage.py prepare`" in str(refused.value)
    assert [record.getMessage() for record in caplog.records] == [
        "Waiting: migrations are missing."
    ]


def test_who_waited_goes_on_when_the_database_is_prepared(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    missing = iter(["the database cannot be reached", "migrations are missing", ""])
    monkeypatch.setattr(prepared, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(prepared, "unprepared", lambda: next(missing))
    with caplog.at_level(logging.WARNING):
        wait_until_prepared()
    assert [record.getMessage() for record in caplog.records] == [
        "Waiting: the database cannot be reached.",
        "Waiting: migrations are missing.",
        "The database is prepared.",
    ]


@pytest.mark.django_db
@pytest.mark.hosted_only
def test_nobody_starts_while_another_process_prepares() -> None:
    import psycopg

    assert unprepared() == ""
    connection.ensure_connection()
    with psycopg.connect(connection.connection.info.dsn, password=password()) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [MIGRATING])
        assert unprepared() == BEING_PREPARED
    assert unprepared() == ""


def password() -> str:
    return str(connection.settings_dict["PASSWORD"])


@pytest.mark.sqlite_only
def test_a_data_directory_in_use_is_not_prepared(settings: Settings, tmp_path: object) -> None:
    settings.DATA = tmp_path
    with prepared.data_lock(), pytest.raises(CommandError, match="Another memoryweb already uses"):
        call_command("prepare")
