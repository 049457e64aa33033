"""One person's pages and requests take their share of the threads, and leave the rest to others."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from agents.api import asgi
from agents.asyncio_bridge import SHARE, THREADS, in_thread, on_behalf_of
from agents.models import Token
from agents.models.limits import LimitReached
from agents.pages import turns
from agents.pages.turns import AT_ONCE, turn_of

PATIENCE = 20


class Gate:
    """What many threads wait at, until it is opened."""

    def __init__(self) -> None:
        self.moved, self.opened = threading.Condition(), threading.Event()
        self.inside = self.most = 0

    def wait(self) -> None:
        with self.moved:
            self.inside += 1
            self.most = max(self.most, self.inside)
            self.moved.notify_all()
        assert self.opened.wait(PATIENCE)
        with self.moved:
            self.inside -= 1

    async def until(self, inside: int) -> None:
        """Wait until so many are inside."""

        def wait() -> None:
            with self.moved:
                assert self.moved.wait_for(lambda: self.inside >= inside, PATIENCE)

        await asyncio.to_thread(wait)


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.opened.set()


# -- threads of sockets and of the API -------------------------------------------------------------


def for_person(person: str, function: Any) -> asyncio.Task[Any]:
    """A task on behalf of a person."""

    async def run() -> Any:
        on_behalf_of.set(person)
        return await in_thread(function)

    return asyncio.create_task(run())


async def test_one_person_leaves_threads_to_the_others(gate: Gate) -> None:
    hers = [for_person("alice", gate.wait) for _ in range(3 * THREADS)]
    await gate.until(SHARE)
    assert await for_person("bob", lambda: "drawn") == "drawn"
    gate.opened.set()
    await asyncio.gather(*hers)
    assert gate.most == SHARE


async def test_who_goes_away_does_not_get_more_threads_by_it(gate: Gate) -> None:
    for _ in range(2):
        gone = [for_person("alice", gate.wait) for _ in range(THREADS)]
        await gate.until(SHARE)
        for task in gone:
            task.cancel()
        await asyncio.gather(*gone, return_exceptions=True)
    assert await for_person("bob", lambda: "drawn") == "drawn"
    assert gate.most == SHARE
    gate.opened.set()
    assert await for_person("alice", lambda: "drawn") == "drawn"


async def test_what_fails_gives_its_place_back() -> None:
    def fail() -> None:
        raise RuntimeError("oh")

    for _ in range(2 * SHARE):
        with pytest.raises(RuntimeError):
            await for_person("alice", fail)
    assert await for_person("alice", lambda: "drawn") == "drawn"


@pytest.mark.django_db(transaction=True)
async def test_a_request_of_the_api_counts_for_the_person_whose_token_it_shows(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ACCOUNTS = True
    asgi._people.clear()

    def tokens() -> tuple[User, list[str]]:
        alice = User.objects.create_user("alice")
        return alice, [Token.make(alice, f"t{n}", ["read"])[1] for n in range(2)]

    alice, secrets = await in_thread(tokens)
    seen: list[Any] = []

    async def noted(function: Any, *args: Any) -> Any:
        seen.append(on_behalf_of.get())
        return await in_thread(function, *args)

    monkeypatch.setattr(asgi, "in_thread", noted)
    for secret in [*secrets, *secrets]:
        seen.clear()
        assert await status_of(f"Bearer {secret}") == 200
    assert seen[0] == alice.pk  # known by either token since it was shown first


async def status_of(authorization: str) -> int:
    """What the API answers to a request that shows this."""
    sent: list[dict[str, Any]] = []

    coming = asyncio.Queue[dict[str, Any]]()
    coming.put_nowait({"type": "http.request", "body": b"", "more_body": False})

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await asgi.application(
        {
            "type": "http",
            "method": "GET",
            "path": "/v1/agents/",
            "query_string": b"",
            "headers": [(b"host", b"localhost"), (b"authorization", authorization.encode())],
            "client": ("127.0.0.1", 1),
            "server": ("localhost", 80),
            "scheme": "http",
            "http_version": "1.1",
        },
        coming.get,
        send,
    )
    return int(sent[0]["status"])


# -- pages -----------------------------------------------------------------------------------------


def test_the_pages_of_one_person_wait_in_line_and_those_of_others_do_not(gate: Gate) -> None:
    def draw() -> None:
        with turn_of(1):
            gate.wait()

    with ThreadPoolExecutor(3 * AT_ONCE) as threads:
        hers = [threads.submit(draw) for _ in range(3 * AT_ONCE)]
        with turn_of(2):
            gate.opened.set()
        for each in hers:
            each.result(PATIENCE)
    assert gate.most <= AT_ONCE
    assert 1 not in turns._lines


def test_who_asks_for_too_many_pages_is_told_to_wait(
    web: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "AT_ONCE", 0)
    monkeypatch.setattr(turns, "SECONDS", 0)
    for waiting in (turns.WAITING, 0):
        monkeypatch.setattr(turns, "WAITING", waiting)
        with pytest.raises(LimitReached), turn_of(alice.pk):
            pass
        response = web.get(reverse("blocks"))
        assert response.status_code == 429
        assert "You are loading many pages at once" in response.content.decode()
    monkeypatch.setattr(turns, "AT_ONCE", 1)
    assert web.get(reverse("blocks")).status_code == 200
