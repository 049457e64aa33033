"""Who the client is, where proxies pass requests on; tests/slow/test_proxies.py has real ones."""

from __future__ import annotations

import logging
from io import BytesIO
from ipaddress import ip_network
from typing import Any

import pytest
from allauth.account.adapter import get_adapter
from asgiref.testing import ApplicationCommunicator
from django.contrib.auth.models import User
from django.core.cache import caches
from django.core.handlers.asgi import ASGIRequest
from django.test import AsyncClient
from pytest_django import Settings

from memoryweb import proxies
from memoryweb.counters import SharedCounters
from memoryweb.middleware import connection_of, refusal_reason
from memoryweb.proxies import client_of, seen_through
from tests.support.proxies import CLIENT, PASSED_ON
from tests.support.visitor import PASSWORD

TOO_MANY = "Too many failed login attempts"


@pytest.fixture(autouse=True)
def networks(settings: Settings) -> None:
    settings.TRUSTED_PROXIES = [ip_network("127.0.0.0/8"), ip_network("10.0.0.0/8")]


def scope(peer: str, **headers: str) -> dict[str, Any]:
    return {
        "type": "http",
        "method": "GET",
        "path": "/",
        "scheme": "http",
        "client": [peer, 4711],
        "headers": [(n.replace("_", "-").encode(), v.encode()) for n, v in headers.items()],
    }


@pytest.mark.parametrize(
    ("peer", "forwarded_for", "client"),
    [
        ("127.0.0.1", "", "127.0.0.1"),
        ("127.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("127.0.0.1", "6.6.6.6, 203.0.113.9", "203.0.113.9"),
        ("127.0.0.1", "6.6.6.6, 203.0.113.9, 10.0.0.7", "203.0.113.9"),
        ("::ffff:127.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("127.0.0.1", "203.0.113.9:5566", "203.0.113.9"),
        ("127.0.0.1", "[2001:db8::9]:5566", "2001:db8::9"),
        ("127.0.0.1", "2001:db8::9", "2001:db8::9"),
        ("127.0.0.1", "127.0.0.1", "127.0.0.1"),
        ("127.0.0.1", "203.0.113.9, unknown", "127.0.0.1"),
        ("127.0.0.1", "203.0.113.9, unknown, 10.0.0.7", "10.0.0.7"),
        ("198.51.100.1", "203.0.113.9", "198.51.100.1"),
    ],
)
def test_the_client_is_the_last_address_that_is_no_proxy_of_ours(
    peer: str, forwarded_for: str, client: str
) -> None:
    seen = seen_through(scope(peer), forwarded_for, "")
    assert seen["client"][0] == (client if client != peer else peer)
    assert seen["peer"] == peer
    if peer == "127.0.0.1":
        assert client_of(peer, forwarded_for) == client


@pytest.mark.parametrize(
    ("peer", "proto", "scheme"),
    [
        ("127.0.0.1", "https", "https"),
        ("127.0.0.1", "http, HTTPS", "https"),
        ("127.0.0.1", "https, http", "http"),
        ("127.0.0.1", "gopher", "http"),
        ("198.51.100.1", "https", "http"),
    ],
)
def test_the_scheme_is_what_the_nearest_proxy_of_ours_says(
    peer: str, proto: str, scheme: str
) -> None:
    assert seen_through(scope(peer), "", proto)["scheme"] == scheme


@pytest.mark.parametrize("headers", PASSED_ON.values(), ids=PASSED_ON)
async def test_django_allauth_and_the_access_rules_see_the_same_client(
    headers: dict[str, str],
) -> None:
    """With the headers of real proxies, asked from elsewhere."""
    requests = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        requests.append(ASGIRequest(scope, BytesIO()))

    elsewhere = {n: v.replace(CLIENT, "203.0.113.9") for n, v in headers.items()}
    asked = ApplicationCommunicator(proxies.Proxies(app), scope("127.0.0.1", **elsewhere))
    await asked.wait()
    (request,) = requests
    assert request.META["REMOTE_ADDR"] == "203.0.113.9"
    assert get_adapter().get_client_ip(request) == "203.0.113.9"
    assert request.is_secure()
    assert connection_of(request)[0] == "127.0.0.1"  # who connected here


def test_no_proxy_makes_a_request_one_of_this_machine(settings: Settings) -> None:
    """Not by the address that it names."""
    settings.TRUSTED_PROXIES = [ip_network("203.0.113.0/24")]
    seen = seen_through(scope("203.0.113.1", x_forwarded_for="127.0.0.1"), "127.0.0.1", "")
    assert seen["client"][0] == "127.0.0.1"
    request = ASGIRequest(seen, BytesIO())
    address, headers, version = connection_of(request)
    assert address == "203.0.113.1"
    assert "serves one person on this machine" in refusal_reason(address, set(), version)
    assert refusal_reason("127.0.0.1", headers, version)  # from here, but passed on


def test_a_proxy_that_is_not_trusted_is_named_in_the_log_once(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.ACCOUNTS = True
    proxies._warned.clear()
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            seen_through(scope("172.18.0.5"), "203.0.113.9", "https")
    (line,) = caplog.messages
    assert "172.18.0.5" in line
    assert "MEMORYWEB_TRUSTED_PROXIES" in line


# -- attempts to log in ----------------------------------------------------------------------------


async def log_in(name: str, client: str, password: str = PASSWORD) -> str:
    """Try it through a proxy on this machine; the page that comes of it, "" if one is in."""
    browser: Any = AsyncClient()
    browser.handler = Through(browser.handler, client)
    page = await browser.post("/accounts/login/", {"login": name, "password": password})
    return "" if page.status_code == 302 else page.content.decode()


class Through:
    """The test client's handler, behind what the server puts before Django."""

    def __init__(self, handler: Any, client: str) -> None:
        self.handler, self.client = handler, client

    async def __call__(self, scope: dict[str, Any]) -> Any:
        return await self.handler(seen_through(scope, self.client, ""))


@pytest.mark.django_db(transaction=True)
async def test_wrong_log_ins_of_one_do_not_lock_out_another(accounts: None, alice: User) -> None:
    alice.set_password(PASSWORD)
    await alice.asave()
    for number in range(10):
        assert "password" in await log_in(f"person{number}", "203.0.113.9")
    assert TOO_MANY in await log_in("alice", "203.0.113.9")
    assert not await log_in("alice", "203.0.113.10")


@pytest.fixture
def shared(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> SharedCounters:
    """What allauth counts in where Redis is set; here it fails, and fails."""
    monkeypatch.setattr(SharedCounters, "_failed_at", float("-inf"))
    nowhere = "redis://127.0.0.1:1/0"
    settings.CACHES = settings.CACHES | {
        "default": {"BACKEND": "memoryweb.counters.SharedCounters", "LOCATION": nowhere}
    }
    cache = caches["default"]
    assert isinstance(cache, SharedCounters)
    cache._alone.clear()
    return cache


@pytest.mark.django_db(transaction=True)
async def test_without_redis_each_process_goes_on_counting(
    accounts: None, shared: SharedCounters, alice: User, caplog: pytest.LogCaptureFixture
) -> None:
    alice.set_password(PASSWORD)
    await alice.asave()
    assert not await log_in("alice", "203.0.113.10")
    for number in range(10):
        await log_in(f"person{number}", "203.0.113.9")
    assert TOO_MANY in await log_in("alice", "203.0.113.9")
    assert "each process counts the attempts to log in by itself" in caplog.text


@pytest.mark.hosted_only
@pytest.mark.django_db(transaction=True)
async def test_with_redis_all_processes_count_together(accounts: None) -> None:
    for number in range(10):
        await log_in(f"person{number}", "203.0.113.9")
    assert isinstance(caches["default"], SharedCounters)
    caches["default"]._alone.clear()
    assert TOO_MANY in await log_in("alice", "203.0.113.9")
