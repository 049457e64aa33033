"""A log-in that ends takes its sockets along; so does a socket that breaks its listeners."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from agents.asyncio_bridge import in_thread
from agents.live import consumer, login, publisher
from agents.models import Agent, Run
from tests.support.counters import count_anew
from tests.support.sockets import heard, socket
from tests.support.visitor import PASSWORD

pytestmark = pytest.mark.django_db(transaction=True)
NEVER = 3600.0


@pytest.fixture(autouse=True)
def accounts(settings: Settings) -> Iterator[None]:
    settings.ACCOUNTS = True
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    count_anew(settings)
    yield
    publisher._loop = None  # the test's loop has ended


@pytest.fixture
def published_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """No socket looks by the clock."""
    monkeypatch.setattr(login, "LOOK_SECONDS", NEVER)


@pytest.fixture
def deaf(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is published, as when Redis is away."""
    monkeypatch.setattr(publisher, "_send", lambda messages: None)


@pytest.fixture
def browser(alice: User) -> Client:
    """Alice's, logged in by her password."""
    alice.set_password(PASSWORD)
    alice.save()
    client = Client()
    client.post(reverse("account_login"), {"login": "alice", "password": PASSWORD})
    assert client.session["_auth_user_id"] == str(alice.pk)
    return client


async def code_of_the_end(page: WebsocketCommunicator) -> int:
    while (said := await page.receive_output(20))["type"] != "websocket.close":
        pass
    return int(said["code"])


def log_out(browser: Client, alice: User) -> None:
    browser.post(reverse("account_logout"))


def change_password(browser: Client, alice: User) -> None:
    form = {"oldpassword": PASSWORD, "password1": "another road", "password2": "another road"}
    assert browser.post(reverse("account_change_password"), form).status_code == 302


def disable(browser: Client, alice: User) -> None:
    alice.is_active = False
    alice.save()


def delete(browser: Client, alice: User) -> None:
    alice.delete()


def expire(browser: Client, alice: User) -> None:
    """Which nothing publishes."""
    Session.objects.update(expire_date=timezone.now())


ENDS = [log_out, change_password, disable, delete]
End = Callable[[Client, User], None]


@pytest.mark.parametrize("end", ENDS)
async def test_a_socket_ends_at_once_with_its_log_in(
    end: End, browser: Client, alice: User, agent: Agent, published_only: None
) -> None:
    async with socket(client=browser) as page:
        assert (await page.connect())[0]
        await in_thread(end, browser, alice)
        assert await code_of_the_end(page) == consumer.LOGGED_OUT


@pytest.mark.parametrize("end", [*ENDS, expire])
async def test_a_socket_that_hears_nothing_looks_by_itself(
    end: End,
    browser: Client,
    alice: User,
    agent: Agent,
    deaf: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(login, "LOOK_SECONDS", 0.05)
    async with socket(client=browser) as page:
        assert (await page.connect())[0]
        await in_thread(end, browser, alice)
        assert await code_of_the_end(page) == consumer.LOGGED_OUT


@pytest.mark.parametrize("command", ["follow", "send", "stop", "ack"])
async def test_every_command_is_let_in_anew(
    command: str, browser: Client, agent: Agent, deaf: None, published_only: None
) -> None:
    async with socket(client=browser) as page:
        await page.connect()
        await in_thread(lambda: Session.objects.all().delete())
        body = {"command": command, "agent": str(agent.pk), "after": 0, "seq": 1}
        await page.send_to(text_data=json.dumps(body | {"text": "Hello", "key": "k"}))
        assert await code_of_the_end(page) == consumer.LOGGED_OUT
    assert not await Run.objects.aexists()


async def test_one_persons_log_out_ends_no_other_socket(
    browser: Client, alice: User, bob: User, agent: Agent
) -> None:
    async with socket(client=browser) as hers, socket(alice) as elsewhere, socket(bob) as bobs:
        for page in (hers, elsewhere, bobs):
            await page.connect()
        await in_thread(log_out, browser, alice)
        assert await code_of_the_end(hers) == consumer.LOGGED_OUT
        for page in (elsewhere, bobs):
            await page.send_to(text_data='{"command": "dance"}')
            await heard(page, "refused")
        follow = {"command": "follow", "agent": str(agent.pk), "after": 0}
        await elsewhere.send_to(text_data=json.dumps(follow))
        assert (await heard(elsewhere, "following"))["following"] == str(agent.pk)


async def test_without_accounts_no_socket_ends_for_want_of_a_log_in(
    alice: User, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ACCOUNTS = False
    monkeypatch.setattr(login, "LOOK_SECONDS", 0.01)
    async with socket() as page:
        assert (await page.connect())[0]
        await page.send_to(text_data='{"command": "ack", "seq": 1}')
        assert await page.receive_nothing(0.2)


async def test_all_sockets_are_looked_at_by_the_same_two_statements(
    browser: Client,
    alice: User,
    bob: User,
    agent: Agent,
    published_only: None,
) -> None:
    async with socket(client=browser) as one, socket(alice) as two, socket(bob) as three:
        for page in (one, two, three):
            await page.connect()
            await page.send_to(text_data='{"command": "dance"}')
            await heard(page, "refused")
        watched = list(login._watched)
        assert len(watched) == 3

        def look() -> None:
            with CaptureQueriesContext(connection) as statements:
                assert login.ended_of(watched) == []
            assert len(statements) == 2
            disable(browser, alice)
            assert {each.user for each in login.ended_of(watched)} == {alice}

        await in_thread(look)


async def test_a_database_that_is_away_ends_no_log_in(
    browser: Client, alice: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(login, "LOOK_SECONDS", 0.01)
    async with socket(client=browser) as page:
        await page.connect()
        with monkeypatch.context() as broken:
            broken.setattr(login, "ended_of", lambda logins: 1 / 0)
            while "could not be checked" not in caplog.text:
                assert await page.receive_nothing(0.05)
        await in_thread(disable, browser, alice)
        assert await code_of_the_end(page) == consumer.LOGGED_OUT


# -- commands are counted --------------------------------------------------------------------------


async def test_commands_are_counted_by_the_minute_and_acknowledging_is_free(
    alice: User, agent: Agent, settings: Settings
) -> None:
    settings.REQUESTS_LIMIT = 3
    follow: dict[str, Any] = {"command": "follow", "agent": str(agent.pk), "after": 0}
    async with socket(alice) as page:
        await page.connect()
        for _ in range(3):
            await page.send_to(text_data=json.dumps(follow))
            await heard(page, "following")
            await heard(page, "seq")
            await page.send_to(text_data='{"command": "ack", "seq": 1}')
        await page.send_to(text_data=json.dumps(follow))
        assert "more than 3 requests within a minute" in (await heard(page, "refused"))["content"]
        await page.send_to(text_data='{"command": "ack", "seq": 1}')  # of nothing in flight
        assert "more than 3 requests" in (await heard(page, "refused"))["content"]


# -- whatever ends a socket ------------------------------------------------------------------------


async def test_an_error_that_nobody_foresaw_leaves_no_listener_behind(
    alice: User, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[consumer.PageConsumer] = []

    async def broken(page: consumer.PageConsumer, body: dict[str, Any]) -> None:
        seen.append(page)
        raise ZeroDivisionError

    monkeypatch.setattr(consumer.PageConsumer, "stop_run", broken)
    follow = {"command": "follow", "agent": str(agent.pk), "after": 0}
    with suppress(ZeroDivisionError):
        async with socket(alice) as page:
            await page.connect()
            await page.send_to(text_data=json.dumps(follow))
            await heard(page, "following")
            assert publisher._listeners
            await page.send_to(text_data='{"command": "stop"}')
            await page.wait(20)
    assert not publisher._listeners
    (served,) = seen
    await asyncio.wait(served.tasks, timeout=20)
    assert all(task.done() for task in served.tasks)
