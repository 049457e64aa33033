"""People: who may come in, who is the administrator, and that nobody sees another's agents."""

from __future__ import annotations

import re
import threading
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from agents.accounts import OWNER, owner
from agents.memory.classes import ChatMemory
from agents.models import Agent
from tests.support.addresses import (
    addresses,
    everything,
    ids_of,
    ids_of_nothing,
    naming_rows,
    of_agents,
)
from tests.support.sign_up import sign_up
from tests.support.threads import at_once
from tests.support.visitor import PASSWORD

METHODS = ("get", "post")


pytestmark = pytest.mark.usefixtures("accounts")


# -- coming in -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_a_stranger_is_sent_to_log_in_from_every_page(
    method: str, client: Client, agent: Agent
) -> None:
    ids = ids_of(agent)
    before = everything()
    for name, address in addresses(ids).items():
        response = getattr(client, method)(address)
        assert response.status_code == 302, name
        assert response.url == f"{reverse('account_login')}?next={address}", name
    assert everything() == before


def test_one_logs_in_by_name_and_logs_out_again(client: Client, alice: User) -> None:
    alice.set_password(PASSWORD)
    alice.save()
    log_in = reverse("account_login")
    wrong = client.post(log_in, {"login": "alice", "password": "wrong"})
    assert wrong.status_code == 200
    assert "_auth_user_id" not in client.session
    client.post(log_in, {"login": "alice", "password": PASSWORD})
    assert client.session["_auth_user_id"] == str(alice.pk)
    assert "Say something to your first agent" in client.get(reverse("home")).content.decode()
    assert client.get(reverse("account_logout")).status_code == 200  # asks; looking changes nothing
    assert "_auth_user_id" in client.session
    client.post(reverse("account_logout"))
    assert "_auth_user_id" not in client.session


def test_after_the_log_in_one_is_not_sent_elsewhere(client: Client, alice: User) -> None:
    alice.set_password(PASSWORD)
    alice.save()
    form = {"login": "alice", "password": PASSWORD, "next": "https://evil.example/"}
    assert client.post(reverse("account_login"), form).headers["Location"] == "/"


# -- signing up ------------------------------------------------------------------------------------


def test_the_first_account_becomes_the_administrator(db: None) -> None:
    client, response = sign_up("carol")
    assert response.status_code == 302
    carol = User.objects.get(username="carol")
    assert (carol.is_staff, carol.is_superuser) == (True, True)
    assert client.get(reverse("admin:index")).status_code == 200


def test_the_first_account_takes_over_what_the_one_owner_had(db: None) -> None:
    kept = Agent.create(owner(), "Kept", ChatMemory(human="Name: Bob"))
    trashed = Agent.create(owner(), "Trashed", ChatMemory())
    trashed.trash()
    client, _ = sign_up("carol")
    carol = User.objects.get(username="carol")
    assert Agent.objects.visible_to(carol).get() == kept
    assert Agent.objects.trashed_by(carol).get() == trashed
    assert {block.owner for block in kept.core_memory()} == {carol}
    assert client.get(reverse("agent", args=[kept.pk])).status_code == 200


def test_the_second_account_is_nobody_in_particular(db: None) -> None:
    sign_up("carol")
    agent = Agent.create(User.objects.get(username="carol"), "Carol's", ChatMemory())
    client, response = sign_up("dave")
    assert response.status_code == 302
    dave = User.objects.get(username="dave")
    assert (dave.is_staff, dave.is_superuser) == (False, False)
    assert client.get(reverse("admin:index"), follow=True).status_code == 403
    assert client.get(reverse("agent", args=[agent.pk])).status_code == 404


def test_nobody_makes_themselves_the_administrator_by_saying_so(alice: User) -> None:
    sign_up("dave", is_staff="on", is_superuser="on")
    dave = User.objects.get(username="dave")
    assert (dave.is_staff, dave.is_superuser) == (False, False)


@pytest.mark.parametrize("name", ["owner", "Owner", "OWNER"])
def test_the_one_owners_name_is_taken(name: str, alice: User) -> None:
    _, response = sign_up(name)
    assert response.status_code == 200
    assert not User.objects.filter(username__iexact=OWNER).exists()


def test_a_closed_server_lets_the_first_in_and_nobody_after(db: None, settings: Any) -> None:
    settings.SIGNUP = "closed"
    _, response = sign_up("carol")
    assert response.status_code == 302
    stranger = Client()
    assert 'name="password1"' not in stranger.get(reverse("account_signup")).content.decode()
    form = {"username": "dave", "password1": PASSWORD, "password2": PASSWORD}
    stranger.post(reverse("account_signup"), form)
    assert list(User.objects.values_list("username", flat=True)) == ["carol"]


@pytest.mark.django_db(transaction=True)
def test_of_eight_who_sign_up_at_once_on_a_closed_server_one_gets_in(settings: Any) -> None:
    settings.SIGNUP = "closed"
    start = threading.Barrier(8)

    def sign_up_with_the_others(number: int) -> str:
        client = Client()
        client.get(reverse("account_signup"))
        form = {"username": f"person{number}", "password1": PASSWORD, "password2": PASSWORD}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(client, "handler", Gate(client.handler, start))
            return str(client.post(reverse("account_signup"), form).content.decode())

    pages = at_once(sign_up_with_the_others, range(8))
    assert User.objects.count() == 1
    assert User.objects.get().is_superuser
    assert sum("Sign-up is closed" in page for page in pages) == 7


class Gate:
    """Lets requests through when so many have come."""

    def __init__(self, handler: Any, start: threading.Barrier) -> None:
        self.handler, self.start = handler, start

    def __call__(self, request: Any) -> Any:
        self.start.wait(20)
        return self.handler(request)


def test_without_accounts_nobody_signs_up(client: Client, db: None, settings: Any) -> None:
    settings.ACCOUNTS = False
    form = {"username": "dave", "password1": PASSWORD, "password2": PASSWORD}
    client.post(reverse("account_signup"), form)
    assert not User.objects.exclude(username=OWNER).exists()


def test_the_one_owner_cannot_log_in_once_there_are_accounts(client: Client, db: None) -> None:
    owner()
    for password in ("", "owner", "!"):
        client.post(reverse("account_login"), {"login": OWNER, "password": password})
        assert "_auth_user_id" not in client.session


# -- what is another's -----------------------------------------------------------------------------


def answer(response: Any, address: str) -> tuple[int, str]:
    """What an answer says, but for the address it was asked at and the page's CSRF token."""
    page = response.content.decode().replace(address, "")
    return response.status_code, re.sub(r"\b\w{64}\b", "", page)


@pytest.mark.parametrize("method", METHODS)
def test_another_persons_agent_is_like_one_that_never_was(
    method: str, bobs_web: Client, agent: Agent
) -> None:
    ids = ids_of(agent)
    form = {"value": "Mine", "version": "1", "text": "Hi", "name": "Mine", "label": "mine"}
    before = everything()
    nothing = of_agents(ids_of_nothing())
    for name, address in of_agents(ids).items():
        given = getattr(bobs_web, method)(address, form)
        assert given.status_code in (404, 405), name
        assert "Tutor" not in given.content.decode(), name
        unknown = getattr(bobs_web, method)(nothing[name], form)
        assert answer(given, address) == answer(unknown, nothing[name]), name
    assert everything() == before


@pytest.mark.parametrize("method", METHODS)
def test_ones_own_agent_is_no_way_to_anothers_blocks_runs_and_edits(
    method: str, bobs_web: Client, bob: User, agent: Agent
) -> None:
    theirs = ids_of(agent)
    own = Agent.create(bob, "Bob's", ChatMemory())
    form = {"value": "Mine", "version": "1", "text": "Hi", "label": "mine", "limit": "10"}
    before = everything()
    for name, address in addresses({**theirs, "agent_id": own.pk}).items():
        if name in naming_rows() - {"older_runs"}:
            response = getattr(bobs_web, method)(address, form)
            assert response.status_code in (404, 405, 409), name
            assert "Name: Bob" not in response.content.decode(), name
    older = bobs_web.get(reverse("older_runs", args=[own.pk, theirs["run_id"] + 1]))
    assert "Hello" not in older.content.decode()
    assert everything() == before


def test_a_list_shows_ones_own_agents_only(bobs_web: Client, bob: User, agent: Agent) -> None:
    own = Agent.create(bob, "Bob's own", ChatMemory())
    gone = Agent.create(agent.owner, "Alice's old one", ChatMemory())
    gone.trash()
    for name in ("agent_new", "agents_deleted"):
        assert reverse("agent", args=[agent.pk]) not in bobs_web.get(reverse(name)).content.decode()
    page = bobs_web.get(reverse("agent", args=[own.pk])).content.decode()
    assert "Bob&#x27;s own" in page
    assert "Tutor" not in page
    assert "old one" not in bobs_web.get(reverse("agents_deleted")).content.decode()
    assert bobs_web.get(reverse("home")).headers["Location"] == reverse("agent", args=[own.pk])


def test_a_deleted_agent_is_gone_for_its_owner_until_it_is_restored(
    web: Client, bobs_web: Client, agent: Agent
) -> None:
    ids = ids_of(agent)
    web.post(reverse("agent_delete", args=[agent.pk]))
    for name, address in of_agents(ids).items():
        if name != "agent_restore":
            assert web.get(address).status_code in (404, 405), name
            assert web.post(address).status_code in (404, 405), name
    assert bobs_web.post(reverse("agent_restore", args=[agent.pk])).status_code == 404
    web.post(reverse("agent_restore", args=[agent.pk]))
    assert web.get(reverse("agent", args=[agent.pk])).status_code == 200


def test_whoever_is_no_longer_active_is_no_longer_in(
    web: Client, alice: User, agent: Agent
) -> None:
    alice.is_active = False
    alice.save()
    response = web.get(reverse("agent", args=[agent.pk]))
    assert response.status_code == 302
