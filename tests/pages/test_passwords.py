"""A new password, a disabled account: what becomes of the person's scripts."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client
from django.urls import reverse

from agents.api.run_stream import Follower
from agents.api.schemas.messages import MessageOptions
from agents.models import Agent, Message, Run
from tests.support.api_client import Api
from tests.support.stored import of
from tests.support.visitor import PASSWORD

NEW = "another long and winding road"


pytestmark = pytest.mark.usefixtures("accounts")


@pytest.fixture
def token(alice: User) -> Api:
    """Alice's script."""
    alice.set_password(PASSWORD)
    alice.save()
    return Api(alice)


def by_page(alice: User) -> tuple[Client, str]:
    client = Client()
    client.force_login(alice)
    return client, reverse("account_change_password")


def by_operator(alice: User) -> tuple[Client, str]:
    client = Client()
    client.force_login(User.objects.create_superuser("olga"))
    return client, reverse("admin:auth_user_password_change", args=[alice.pk])


def by_mail(alice: User) -> tuple[Client, str]:
    alice.email = "alice@example.com"
    alice.save()
    client = Client()
    client.post(reverse("account_reset_password"), {"email": alice.email})
    link = re.search(r"http://testserver(/accounts/\S+)", str(mail.outbox[-1].body))
    assert link
    return client, client.get(link[1]).headers["Location"]


def by_page_for_the_first_time(alice: User) -> tuple[Client, str]:
    alice.set_unusable_password()
    alice.save()
    client, _ = by_page(alice)
    return client, reverse("account_set_password")


WAYS = [by_page, by_operator, by_mail, by_page_for_the_first_time]


@pytest.mark.parametrize("revoke", [True, False])
@pytest.mark.parametrize("way", WAYS)
def test_a_new_password_revokes_the_tokens_if_it_is_so_wished(
    way: Any, revoke: bool, alice: User, token: Api
) -> None:
    client, address = way(alice)
    assert "Revoke the API tokens as well" in client.get(address).content.decode()
    form = {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW, "usable_password": "true"}
    answer = client.post(address, form | ({"revoke_tokens": "on"} if revoke else {}))
    assert answer.status_code == 302
    alice.refresh_from_db()
    assert alice.check_password(NEW)
    token.get("/agents/", expect=401 if revoke else 200)


def test_a_link_that_is_no_good_is_told_so(client: Client, db: None) -> None:
    page = client.get(reverse("account_reset_password_from_key", args=["1", "wrong-key"]))
    assert page.status_code == 200
    assert "Bad token" in page.content.decode()


def test_whoever_has_no_tokens_is_not_asked_about_them(alice: User) -> None:
    alice.set_password(PASSWORD)
    alice.save()
    client, address = by_page(alice)
    assert "Revoke" not in client.get(address).content.decode()


def test_the_admin_leads_to_the_one_page_for_ones_own_password(desk: Client) -> None:
    answer = desk.get(reverse("admin:password_change"))
    assert answer.headers["Location"] == reverse("account_change_password")


def test_what_a_disabled_accounts_scripts_hold_ends_and_does_not_come_back(
    alice: User, token: Api
) -> None:
    alice.is_active = False
    alice.save()
    token.get("/agents/", expect=401)
    alice.is_active = True
    alice.save()
    token.get("/agents/", expect=401)


def test_a_token_of_whom_the_database_alone_disabled_lets_nobody_in(
    alice: User, token: Api
) -> None:
    User.objects.update(is_active=False)
    assert "closed" in token.get("/agents/", expect=401)["detail"]


def test_a_stream_that_goes_on_ends_when_its_person_is_disabled(alice: User, agent: Agent) -> None:
    run = Run.objects.create(**of(agent), key="k", text="Hi", status=Run.Status.RUNNING)
    follower = Follower(run, MessageOptions())
    assert (follower.more(), follower.ended) == ([], False)
    Message.objects.create(**of(agent), run=run, role="assistant", content="Secret", number=1)
    User.objects.update(is_active=False)
    assert (follower.more(), follower.ended) == ([], True)
