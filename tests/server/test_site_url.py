"""MEMORYWEB_URL: what follows from the address of the site, and what is refused at the start."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from pytest_django import Settings

from memoryweb.asgi import application
from memoryweb.site_url import SiteUrl
from tests.support.server import ROOT
from tests.support.settings import settings_of

Start = Callable[..., None]
FOR_BROWSERS = re.compile("(ACCOUNTS|ALLOWED|CSRF|MESSAGE|SECURE|SESSION|SITE|TLS|TRUSTED)")
SITE = "https://memory.example.com"
WRONG = {
    "memory.example.org": "it has to begin with https://",
    "memory.example.org:8000": "it has to begin with https://",
    "ftp://memory.example.org": "it has to begin with https://",
    "//memory.example.org": "it has to begin with https://",
    "https://": "it names no host",
    "https://memory example.org": "it names no host",
    "https://*.example.org": "it names no host",
    "https://.example.org": "it names no host",
    "https://memory.example.org/app": "leave out '/app'",
    "https://memory.example.org/?a=b": "leave out '/?a=b'",
    "https://memory.example.org#a": "leave out '#a'",
    "https://alice@memory.example.org": "it may name nobody",
    "https://memory.example.org:http": "its port is no number",
    "https://memory.example.org:70000": "its port is no number",
}


@pytest.fixture
def start(db: None, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Start:
    """Have the settings of a server that is started with these variables."""

    def read(**variables: str) -> None:
        for name, value in settings_of(tmp_path, monkeypatch, **variables).items():
            if FOR_BROWSERS.match(name):
                setattr(settings, name, value)

    return read


@pytest.mark.parametrize(
    ("value", "host", "origin"),
    [
        ("", "", ""),
        ("https://memory.example.org", "memory.example.org", "https://memory.example.org"),
        (" https://Memory.Example.ORG/ ", "memory.example.org", "https://memory.example.org"),
        ("https://memory.example.org:443", "memory.example.org", "https://memory.example.org"),
        (
            "https://memory.example.org:8443",
            "memory.example.org",
            "https://memory.example.org:8443",
        ),
        ("http://192.168.1.5:8283", "192.168.1.5", "http://192.168.1.5:8283"),
        ("http://[2001:db8::5]:8283", "[2001:db8::5]", "http://[2001:db8::5]:8283"),
        ("https://münchen.example", "xn--mnchen-3ya.example", "https://xn--mnchen-3ya.example"),
    ],
)
def test_an_address_is_read_as_browsers_send_it(value: str, host: str, origin: str) -> None:
    assert SiteUrl.parse(value)[1:] == (host, origin)


@pytest.mark.parametrize(("value", "why"), WRONG.items())
def test_a_wrong_address_is_refused_in_words(value: str, why: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=re.escape(why)) as refused:
        SiteUrl.parse(value)
    assert "such as https://memory.example.org" in str(refused.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    "variables",
    [
        {"MEMORYWEB_URL": "memory.example.org"},
        {"MEMORYWEB_URL": SITE, "MEMORYWEB_ACCOUNTS": "0"},
        {"MEMORYWEB_TRUSTED_PROXIES": "proxy.example.org"},
    ],
)
def test_the_start_says_what_is_wrong_in_one_line(
    variables: dict[str, str], tmp_path: Path
) -> None:
    command = [sys.executable, "manage.py", "check"]
    environment = {"MEMORYWEB_DATA": str(tmp_path), **variables}
    ended = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    (said,) = ended.stderr.splitlines()
    assert list(variables)[-1] in said


def test_behind_tls_cookies_are_this_hosts_alone_and_browsers_keep_to_tls(
    start: Start, settings: Settings
) -> None:
    start(URL=SITE)
    assert settings.ACCOUNTS
    page = Client().get("/accounts/login/", secure=True, headers={"host": "memory.example.com"})
    (csrf,) = map(str, page.cookies.values())
    assert csrf.startswith("Set-Cookie: __Host-memoryweb_csrf=")
    assert csrf.endswith("; Secure")
    assert "Path=/;" in csrf
    assert "Domain" not in csrf
    assert settings.SESSION_COOKIE_NAME == "__Host-memoryweb_session"
    assert settings.MESSAGE_STORAGE == "memoryweb.messages.HostMessages"
    assert page.headers["Strict-Transport-Security"] == "max-age=31536000"


@pytest.mark.parametrize("url", ["", "http://memory.example.com"])
def test_without_tls_nothing_asks_for_it(url: str, start: Start, settings: Settings) -> None:
    start(URL=url, ACCOUNTS="1")
    page = Client().get("/accounts/login/", secure=True, headers={"host": "localhost"})
    assert "Secure" not in str(next(iter(page.cookies.values())))
    assert settings.SESSION_COOKIE_NAME == "memoryweb_session"
    assert "Strict-Transport-Security" not in page.headers


def test_other_names_are_refused(start: Start) -> None:
    start(URL=SITE)
    for host, status in {"memory.example.com": 200, "localhost": 200, "example.com": 400}.items():
        page = Client().get("/accounts/login/", headers={"host": host})
        assert page.status_code == status, host


async def ask(path: str, **headers: str) -> tuple[int, dict[bytes, bytes], str]:
    """GET by a connection from this machine, without TLS: status, headers, text."""
    path, _, query = path.partition("?")
    scope: dict[str, Any] = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "query_string": query.encode(),
        "client": ["127.0.0.1", 5000],
        "headers": [(n.replace("_", "-").encode(), v.encode()) for n, v in headers.items()],
    }
    asked = ApplicationCommunicator(application, scope)
    await asked.send_input({"type": "http.request", "body": b""})
    start = await asked.receive_output(20)
    body = await asked.receive_output(20)
    return start["status"], dict(start["headers"]), body["body"].decode()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ["/", "/v1/agents/", "/static/icon.svg", "/a%20b/?c=d%26e"])
async def test_whoever_comes_without_tls_is_sent_to_it(path: str, start: Start) -> None:
    start(URL=SITE)
    for headers in ({}, {"x_forwarded_proto": "http", "x_forwarded_for": "203.0.113.9"}):
        status, answered, _ = await ask(path.replace("%20", " "), host="localhost", **headers)
        assert (status, answered[b"location"].decode()) == (308, SITE + path)


@pytest.mark.django_db(transaction=True)
async def test_a_path_cannot_name_another_host(start: Start) -> None:
    start(URL=SITE)
    _, answered, _ = await ask(".evil.example/", host="localhost")
    assert answered[b"location"].decode() == f"{SITE}/"


@pytest.mark.django_db(transaction=True)
async def test_a_proxy_that_does_not_name_the_scheme_is_told_so_instead_of_sent_in_circles(
    start: Start,
) -> None:
    start(URL=SITE)
    status, _, said = await ask("/", host="memory.example.com", x_forwarded_for="203.0.113.9")
    assert (status, "Have the proxy set the header X-Forwarded-Proto" in said) == (400, True)


@pytest.mark.django_db(transaction=True)
async def test_the_scheme_is_not_taken_from_just_anybody(start: Start) -> None:
    start(URL=SITE, TRUSTED_PROXIES="10.0.0.0/8")
    status, _, said = await ask("/", host="memory.example.com", x_forwarded_proto="https")
    assert (status, "MEMORYWEB_TRUSTED_PROXIES" in said) == (400, True)
    start(URL=SITE, TRUSTED_PROXIES="")
    status, _, _ = await ask(
        "/accounts/login/", host="memory.example.com", x_forwarded_proto="https"
    )
    assert status == 200
