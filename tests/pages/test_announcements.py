"""Announcements: above every page of whoever is logged in, while they last, until hidden."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import DatabaseError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from agents.models import Agent, Announcement, AuditEntry
from agents.models.announcement import forget
from tests.support.sockets import heard, socket

pytestmark = pytest.mark.django_db(transaction=True)
WORDS = "Maintenance **tonight**"
HTML = "Maintenance <strong>tonight</strong>"


@pytest.fixture(autouse=True)
def nothing_is_known_from_other_tests() -> Iterator[None]:
    forget()
    yield
    forget()


def announce(text: str = WORDS, begins: float = -60, ends: float | None = None) -> Announcement:
    """One that begins and ends so many seconds from now."""
    now = timezone.now()
    until = None if ends is None else now + timedelta(seconds=ends)
    starts = now + timedelta(seconds=begins)
    return Announcement.objects.create(text=text, starts_at=starts, ends_at=until)


def page(web: Client, address: str = "blocks") -> str:
    return web.get(reverse(address)).content.decode()


# -- pages -----------------------------------------------------------------------------------------


def test_every_page_of_somebody_who_is_logged_in_has_it_and_no_other(
    web: Client, agent: Agent
) -> None:
    announce()
    for name in ("blocks", "account", "usersessions_list", "agent_new", "tokens", "activity"):
        assert HTML in page(web, name), name
    for address in (reverse("agent", args=[agent.pk]), reverse("agent_settings", args=[agent.pk])):
        assert HTML in web.get(address).content.decode(), address
    assert HTML not in page(Client(), "account_login")


def test_it_is_shown_from_its_beginning_to_its_end(web: Client) -> None:
    announce("To come", begins=60)
    announce("Over", begins=-60, ends=-1)
    announce("Now", begins=-60, ends=60)
    shown = page(web)
    assert "Now" in shown
    assert "To come" not in shown
    assert "Over" not in shown
    assert sorted(each.state for each in Announcement.objects.all()) == [
        "ended",
        "shown",
        "to come",
    ]


def test_what_was_hidden_stays_away_until_it_is_changed(web: Client) -> None:
    announcement = announce()
    web.cookies["hidden_announcements"] = f"1-1_{announcement.key}"
    assert HTML not in page(web)
    announcement.save()
    assert HTML in page(web)


def test_it_can_hold_no_script(web: Client) -> None:
    announce("<script>alert(1)</script> [x](javascript:alert(1))")
    shown = page(web)
    assert "<script>alert" not in shown
    assert 'href="javascript' not in shown


def test_many_pages_look_once(web: Client) -> None:
    announce()
    page(web)
    with CaptureQueriesContext(
        connection,
    ) as asked:
        for _ in range(3):
            assert HTML in page(web)
    assert not [each for each in asked.captured_queries if "agents_announcement" in each["sql"]]


def test_pages_are_drawn_where_the_database_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Any) -> None:
        raise DatabaseError

    announcement = announce()
    assert Announcement.objects.all().shown() == [announcement]
    monkeypatch.setattr("agents.models.announcement.AnnouncementQuerySet.not_ended", fail)
    assert Announcement.objects.all().known(read_after=float("inf")) == [announcement]


# -- the admin -------------------------------------------------------------------------------------


def test_an_administrator_makes_one_and_nobody_makes_one_that_ends_before_it_begins(
    desk: Client, operator: User
) -> None:
    form = {"text": WORDS, "level": "warning", "starts_at_0": "2026-01-02", "starts_at_1": "10:00"}
    form |= {"ends_at_0": "2026-01-01", "ends_at_1": "10:00"}
    address = reverse("admin:agents_announcement_add")
    assert "ends before it begins" in desk.post(address, form).content.decode()
    assert desk.post(address, form | {"ends_at_0": "", "ends_at_1": ""}).status_code == 302
    made = Announcement.objects.get()
    assert (made.text, made.level, made.made_by) == (WORDS, "warning", operator)
    entry = AuditEntry.objects.get(action=AuditEntry.Action.ADDED)
    assert WORDS not in str(vars(entry))


# -- open pages ------------------------------------------------------------------------------------


async def until(communicator: Any, wanted: bool) -> str:
    """What the page is told next of announcements: that one is shown, or none."""
    while True:
        content = (await heard(communicator, "content"))["content"]
        if "#announcements" in content and ("data-announcement" in content) == wanted:
            return str(content)


@pytest.mark.usefixtures("accounts")
async def test_open_pages_get_it_at_once_and_lose_it_when_it_is_deleted(alice: User) -> None:
    async with socket(alice) as open_page:
        await open_page.connect()
        announcement = await sync_to_async(announce)()
        assert HTML in await until(open_page, True)
        announcement.text = "Maintenance *tomorrow*"
        await sync_to_async(announcement.save)()
        assert "<em>tomorrow</em>" in await until(open_page, True)
        await sync_to_async(announcement.delete)()
        await until(open_page, False)


@pytest.mark.usefixtures("accounts")
async def test_it_comes_and_goes_at_its_time_without_anybody_telling(alice: User) -> None:
    async with socket(alice) as open_page:
        await open_page.connect()
        await sync_to_async(announce)(begins=0.3)
        assert HTML in await until(open_page, True)
        await sync_to_async(Announcement.objects.all().delete)()
        await until(open_page, False)
        await sync_to_async(announce)(ends=2)
        assert HTML in await until(open_page, True)
        await until(open_page, False)


@pytest.mark.usefixtures("accounts")
async def test_a_page_that_comes_back_is_told_of_what_there_is(alice: User, agent: Agent) -> None:
    await sync_to_async(announce)()
    async with socket(alice) as open_page:
        await open_page.connect()
        assert HTML in await until(open_page, True)


@pytest.mark.usefixtures("accounts")
async def test_a_message_asks_for_no_announcement(
    alice: User, agent: Agent, django_assert_num_queries: Any
) -> None:
    await sync_to_async(announce)()
    async with socket(alice) as open_page:
        await open_page.connect()
        await until(open_page, True)
        seen: list[str] = []

        def note(execute: Any, sql: str, *rest: Any) -> Any:
            seen.append(sql)
            return execute(sql, *rest)

        def send() -> None:
            with connection.execute_wrapper(note):
                agent.send("Hello", "k")

        await sync_to_async(send)()
        await open_page.send_to(text_data=json.dumps({"command": "stop", "agent": "x"}))
        await heard(open_page, "content")
    assert seen
    assert not [sql for sql in seen if "announcement" in sql]
