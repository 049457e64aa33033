"""The doctor: a line for each thing that memoryweb needs, and what to do where it is not there."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.core.management import call_command
from django.db import connection
from pytest_django import Settings

from agents.operations import checks
from agents.operations.checks import database, machine, outside
from agents.operations.checks.check import Found, failed, ok
from memoryweb.static_files import MARK, digest_of_sources
from tests.support.fake_openai import FakeOpenAI
from tests.support.web_servers import says, web_server


def test_what_is_found_is_told_in_lines_or_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Callable[[], Found]] = [
        lambda: ok("disk", "much room"),
        lambda: failed("redis", "does not answer", "Start it."),
    ]
    monkeypatch.setattr("agents.management.commands.doctor.ALL", found)
    told = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("doctor", stdout=told)
    assert ended.value.code == 1
    assert told.getvalue().splitlines() == [
        "ok       disk          much room.",
        "failed   redis         does not answer. Start it.",
    ]
    told = StringIO()
    with pytest.raises(SystemExit):
        call_command("doctor", "--json", stdout=told)
    assert [each["state"] for each in json.loads(told.getvalue())] == ["ok", "failed"]
    monkeypatch.setattr("agents.management.commands.doctor.ALL", found[:1])
    call_command("doctor", stdout=StringIO())


def test_a_check_that_breaks_has_failed() -> None:
    def broken() -> Found:
        raise ValueError("no such thing\nand more")

    assert checks.carried_out([broken]) == [failed("broken", "ValueError: no such thing")]


def test_a_database_that_is_away_is_waited_for_once() -> None:
    def answers() -> Found:
        return failed("database", "The database cannot be reached")

    found = checks.carried_out([answers, database.is_prepared, database.workers, outside.proxy])
    assert [each.state for each in found[:3]] == ["failed"] * 3
    assert found[2] == failed("workers", "not looked at, as the database does not answer")


@pytest.mark.django_db
def test_a_database_is_told_by_its_version_and_missing_migrations() -> None:
    assert database.answers().state == "ok"
    assert database.is_prepared() == ok("migrations", "all applied")
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'agents'")
    found = database.is_prepared()
    assert found.state == "failed"
    assert "agents.0001_initial" in found.words


def test_a_full_disk_and_a_short_key_are_told(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for free, state in ((2 * 10**9, "ok"), (5 * 10**8, "warning"), (10**7, "failed")):
        usage = SimpleNamespace(free=free, total=10**10)
        monkeypatch.setattr("shutil.disk_usage", lambda path, usage=usage: usage)
        assert machine.disk().state == state
    settings.SECRET_KEY = "k" * 50
    assert machine.secret_key().state == ("warning" if settings.HOSTED else "ok")
    settings.SECRET_KEY_NAMED = True
    assert machine.secret_key().state == "ok"
    settings.SECRET_KEY = "short"
    found = machine.secret_key()
    assert found.state == "warning"
    assert "short" not in found.words


@pytest.mark.usefixtures("db")
def test_each_endpoint_is_asked_for_its_models(model: FakeOpenAI, settings: Settings) -> None:
    assert "lists" in outside.models().words
    settings.ENDPOINTS = {"work": "http://127.0.0.1:9/v1"}
    found = outside.models()
    assert found.state == "failed"
    assert "work: GET http://127.0.0.1:9/v1/models failed" in found.words
    settings.OPENAI_BASE_URL, settings.ENDPOINTS = "", {}
    assert "demo" in outside.models().words


def test_mail_is_tried(settings: Settings) -> None:
    settings.MAIL = False
    assert outside.mail().state == "ok"
    settings.ACCOUNTS = True
    assert outside.mail().state == "warning"
    settings.MAIL = True
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
    assert outside.mail().state == "failed"


@pytest.fixture
def silent() -> Iterator[str]:
    """An address where nobody listens."""
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{taken.getsockname()[1]}"


def test_redis_that_does_not_answer_is_told(settings: Settings, silent: str) -> None:
    settings.REDIS_URL = ""
    assert outside.redis().state == ("warning" if settings.HOSTED else "ok")
    settings.REDIS_URL = f"redis://{silent}/0"
    found = outside.redis()
    assert found.state == "failed"
    assert "does not answer" in found.words


def test_what_a_proxy_does_wrong_is_told(settings: Settings, silent: str) -> None:
    settings.SITE_URL, settings.TLS = "", False
    assert outside.proxy().state == "ok"
    settings.SITE_URL = f"http://{silent}"
    assert "does not answer" in outside.proxy().words
    with web_server(says("", status=400)) as server:
        settings.SITE_URL = server.url("").rstrip("/")
        assert "does not pass on Host" in outside.proxy().words
    with web_server(says("Log in")) as server:
        settings.SITE_URL = server.url("").rstrip("/")
        assert "sockets are not let through" in outside.proxy().words
        settings.TLS = True
        assert "without HSTS" in outside.proxy().words


@pytest.mark.django_db
@pytest.mark.hosted_only
def test_on_postgres_clock_connections_and_workers_are_looked_at() -> None:
    assert database.clock().state == "ok"
    assert "may take 0 of" in database.connections().words
    assert database.workers().advice == "Start one: `manage.py procrastinate worker`."
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO procrastinate_workers DEFAULT VALUES")
    assert database.workers().state == "ok"


def test_static_files_of_this_version_must_be_gathered(settings: Settings, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path
    assert machine.static_files().state == "failed"
    (tmp_path / MARK).write_text(digest_of_sources())
    assert machine.static_files() == ok("static files", f"gathered in {tmp_path}")


def test_where_tables_are_missing_nothing_is_asked_of_them() -> None:
    def is_prepared() -> Found:
        return failed("migrations", "migrations are missing")

    found = {each.name: each for each in checks.carried_out((is_prepared, *checks.OF_TABLES))}
    assert {each.words for name, each in found.items() if name != "migrations"} == {
        "not looked at, as migrations are missing"
    }
