"""The account page, and where a person is logged in."""

from __future__ import annotations

import pytest
from allauth.usersessions.models import UserSession
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse

from agents.live.consumer import LOGGED_OUT
from tests.support.sockets import socket
from tests.support.visitor import PASSWORD

pytestmark = pytest.mark.usefixtures("accounts")


@pytest.fixture
def alice(alice: User) -> User:
    alice.set_password(PASSWORD)
    alice.save()
    return alice


def logged_in(name: str, browser: str, client: str = "203.0.113.9") -> Client:
    web = Client(headers={"user-agent": browser}, REMOTE_ADDR=client)
    web.post(reverse("account_login"), {"login": name, "password": PASSWORD})
    return web


def test_the_account_page_leads_to_all_there_is(alice: User) -> None:
    web = logged_in("alice", "Firefox")
    page = web.get(reverse("account")).content.decode()
    names = ("account_email", "account_change_password", "mfa_index", "usersessions_list", "tokens")
    for name in names:
        assert f'href="{reverse(name)}"' in page, name
        assert web.get(reverse(name)).status_code == 200, name
    assert "1 browser" in page
    assert reverse("socialaccount_connections") not in page  # nobody can log in elsewhere
    home = web.get(reverse("agent_new")).content.decode()
    assert f'href="{reverse("account")}"' in home


def test_a_stranger_is_sent_to_log_in(client: Client, db: None) -> None:
    for name in ("account", "mfa_index", "usersessions_list", "socialaccount_connections"):
        answer = client.get(reverse(name))
        assert answer.headers["Location"].startswith(reverse("account_login")), name


def test_a_person_sees_where_they_are_logged_in_and_ends_one(alice: User, bob: User) -> None:
    phone, desk = logged_in("alice", "Phone"), logged_in("alice", "Desk", "2001:db8::9")
    page = desk.get(reverse("usersessions_list")).content.decode()
    for words in ("Phone", "Desk", "203.0.113.9", "2001:db8::9", "This browser"):
        assert words in page
    there = UserSession.objects.get(user_agent="Phone")
    stranger = Client()
    stranger.force_login(bob)
    assert stranger.post(reverse("session_end", args=[there.pk])).status_code == 404
    assert desk.get(reverse("session_end", args=[there.pk])).status_code == 405
    desk.post(reverse("session_end", args=[there.pk]))
    assert phone.get(reverse("account")).status_code == 302
    assert desk.get(reverse("account")).status_code == 200


def test_everywhere_else_at_once(alice: User) -> None:
    phone, desk = logged_in("alice", "Phone"), logged_in("alice", "Desk")
    desk.post(reverse("usersessions_list"))
    assert phone.get(reverse("account")).status_code == 302
    assert desk.get(reverse("account")).status_code == 200
    assert Session.objects.count() == 1


@pytest.mark.parametrize("by", ["person", "administrator"])
@pytest.mark.django_db(transaction=True)
async def test_the_socket_of_a_session_that_is_ended_is_closed(by: str, alice: User) -> None:
    phone = await sync_to_async(logged_in)("alice", "Phone")
    async with socket(client=phone) as page:
        assert (await page.connect())[0]
        await sync_to_async(end_phone)(by)
        while (frame := await page.receive_output(10))["type"] != "websocket.close":
            pass
        assert frame["code"] == LOGGED_OUT


def end_phone(by: str) -> None:
    there = UserSession.objects.get(user_agent="Phone")
    if by == "person":
        logged_in("alice", "Desk").post(reverse("session_end", args=[there.pk]))
    else:
        desk = Client()
        desk.force_login(User.objects.create_superuser("olga"))
        address = reverse("admin:usersessions_usersession_delete", args=[there.pk])
        assert desk.post(address, {"post": "yes"}).status_code == 302


def test_only_administrators_take_away_second_factors(desk: Client, alice: User) -> None:
    for name in ("mfa_authenticator", "usersessions_usersession", "socialaccount_socialaccount"):
        assert desk.get(reverse(f"admin:{name}_changelist")).status_code == 200
        assert desk.get(reverse(f"admin:{name}_add")).status_code == 403
    User.objects.filter(pk=alice.pk).update(is_staff=True)
    staff = Client()
    staff.force_login(alice)
    assert staff.get(reverse("admin:mfa_authenticator_changelist")).status_code == 403
