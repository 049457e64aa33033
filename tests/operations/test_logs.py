"""Lines of the log: JSON with ids, without anybody's words or secrets."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

import pytest
from pytest_django import Settings
from structlog.contextvars import bound_contextvars

from memoryweb import logs
from memoryweb.logs import JsonLines

WORDS = "my doctor says that I"


def line(message: str, *args: Any, error: BaseException | None = None) -> dict[str, Any]:
    """What is written for a line of the log."""
    info = (type(error), error, error.__traceback__) if error else None
    record = logging.LogRecord("agents.x", logging.ERROR, "x.py", 1, message, args, info)
    written: dict[str, Any] = json.loads(JsonLines().format(record))
    return written


def raised(error: BaseException, cause: BaseException | None = None) -> BaseException:
    try:
        raise error from cause
    except BaseException:
        found = sys.exc_info()[1]
        assert found
        return found


def test_a_line_has_the_ids_that_are_bound() -> None:
    with bound_contextvars(run_id=7, step_id=None):
        written = line("Run %s failed.", 7)
    assert written.pop("timestamp").endswith("Z")
    assert written == {
        "event": "Run 7 failed.",
        "level": "error",
        "logger": "agents.x",
        "run_id": 7,
    }


def test_an_exception_is_shown_by_where_it_came_from_and_not_by_its_words() -> None:
    inner = raised(KeyError(WORDS))
    error = raised(ValueError(WORDS), inner)
    written = line(f"It failed: {WORDS}", error=error)
    assert WORDS not in json.dumps(written)
    assert written["exception"]["type"] == "ValueError"
    assert "test_logs.py" in written["exception"]["at"][0]
    assert written["exception"]["cause"]["type"] == "KeyError"
    assert WORDS not in json.dumps(line("Embedding waits: %s", error))


def test_the_words_of_the_system_are_shown() -> None:
    written = line("Away", error=raised(ConnectionRefusedError(111, "Connection refused")))
    assert written["exception"]["type"] == (
        "ConnectionRefusedError: [Errno 111] Connection refused"
    )


@pytest.mark.hosted_only
@pytest.mark.django_db
def test_what_postgres_quotes_of_a_row_is_not_shown() -> None:
    from django.db import DatabaseError, connection

    with pytest.raises(DatabaseError) as broken, connection.cursor() as cursor:
        cursor.execute("INSERT INTO agents_message (content) VALUES (%s)", [WORDS])
    assert WORDS in str(broken.value)
    assert WORDS not in json.dumps(line("It failed: %s", broken.value, error=broken.value))


def test_secrets_of_the_settings_are_masked(settings: Settings) -> None:
    settings.OPENAI_API_KEY = "sk-of-the-endpoint"
    settings.DATABASE_URL = "postgres://me:p%40ssword@127.0.0.1/db"
    settings.METRICS_TOKEN = ""
    logs.secrets.cache_clear()
    try:
        written = json.dumps(line("sk-of-the-endpoint, p@ssword, p%40ssword"))
    finally:
        logs.secrets.cache_clear()
    assert "sk-of-the-endpoint" not in written
    assert "ssword" not in written
