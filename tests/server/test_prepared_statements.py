"""Statements that a real Postgres prepares."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import ProgrammingError, connection

pytestmark = [pytest.mark.hosted_only, pytest.mark.django_db]
PREPARED = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE %s"
FORGET = "DO $$ BEGIN EXECUTE 'DEALLOCATE ALL'; END $$"


def one(sql: str, *values: str) -> object:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchone()[0]


def doubled(value: int) -> object:
    here: Any = connection
    with here.prepared_cursor() as cursor:
        cursor.execute("SELECT 2 * %s", [value])
        return cursor.fetchone()[0]


def test_a_frequent_statement_is_prepared_once() -> None:
    assert [doubled(value) for value in range(8)] == [2 * value for value in range(8)]
    assert one(PREPARED, "SELECT 2 * $1") == 1


def test_a_pooler_that_loses_them_is_named_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    for value in range(8):
        doubled(value)
    with connection.cursor() as cursor:
        cursor.execute(FORGET)  # as after the pooler took another connection
    with pytest.raises(ProgrammingError):
        doubled(1)
    assert "set MEMORYWEB_PREPARED_STATEMENTS=0" in caplog.text
