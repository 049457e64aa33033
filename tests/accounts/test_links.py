"""Accounts where not everybody may make one: the first administrator, and invitations."""

from __future__ import annotations

import io
import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from agents.accounts import owner
from agents.accounts.entry import first_link
from agents.management.commands.serve import Command as Serve
from agents.memory.classes import ChatMemory
from agents.models import Agent, Invitation
from tests.support.sign_up import sign_up
from tests.support.threads import at_once
from tests.support.visitor import PASSWORD

FORM = {"email": "", "password1": PASSWORD, "password2": PASSWORD}
GONE = "This link is no good any more"


@pytest.fixture(autouse=True)
def team(accounts: None, settings: Settings) -> None:
    """A server that others can reach, as it is without further settings."""
    settings.SITE_URL = "https://memory.example.org"
    settings.FIRST_IS_ADMINISTRATOR = False
    settings.SIGNUP = "closed"


def path_of(link: str) -> str:
    assert link.startswith("https://memory.example.org/")
    return link.removeprefix("https://memory.example.org")


def come_in(path: str, name: str) -> Any:
    """Fill in the page that a link leads to."""
    return Client().post(path, {"username": name, **FORM})


# -- the first administrator -----------------------------------------------------------------------


@pytest.mark.parametrize("signup", ["open", "invitation", "closed"])
def test_no_stranger_becomes_the_administrator(signup: str, db: None, settings: Settings) -> None:
    settings.SIGNUP = signup
    sign_up("mallory")
    assert not User.objects.filter(is_superuser=True).exists()
    assert User.objects.filter(username="mallory").exists() == (signup == "open")


def test_the_link_in_the_log_makes_the_administrator_once(db: None) -> None:
    kept = Agent.create(owner(), "Kept", ChatMemory(human="Name: Bob"))
    out = io.StringIO()
    Serve(stdout=out).print_summary("127.0.0.1", 8283, 0)
    (link,) = re.findall(r"https://memory\S+", out.getvalue())
    page = Client().get(path_of(link))
    assert "This account will be the administrator" in page.content.decode()
    assert not User.objects.exclude(username="owner").exists()  # looking changes nothing
    assert come_in(path_of(link), "carol").status_code == 302
    carol = User.objects.get(username="carol")
    assert (carol.is_staff, carol.is_superuser) == (True, True)
    assert Agent.objects.visible_to(carol).get() == kept
    again = come_in(path_of(link), "mallory")
    assert (again.status_code, GONE in again.content.decode()) == (410, True)
    assert not User.objects.filter(username="mallory").exists()
    assert first_link("https://memory.example.org") == ""


def test_the_link_is_for_a_day_and_nobody_can_make_one_up(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = path_of(first_link("https://memory.example.org"))
    assert Client().get(path[:-3] + "xx/").status_code == 410
    assert Client().get(path).status_code == 200
    now = timezone.now().timestamp()
    monkeypatch.setattr("django.core.signing.time.time", lambda: now + 24 * 3600 + 60)
    assert Client().get(path).status_code == 410


@pytest.mark.django_db(transaction=True)
def test_of_eight_who_use_the_link_at_once_one_gets_in() -> None:
    path = path_of(first_link("https://memory.example.org"))
    at_once(lambda number: come_in(path, f"person{number}").status_code, range(8))
    assert User.objects.get().is_superuser


def test_a_command_makes_an_administrator_too(
    db: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = Agent.create(owner(), "Kept", ChatMemory())
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{PASSWORD}\n"))
    call_command("create_admin", "carol", email="carol@example.org")
    assert "carol is an administrator now" in capsys.readouterr().out
    assert Agent.objects.visible_to(User.objects.get(username="carol")).get() == kept
    client = Client()
    client.post(reverse("account_login"), {"login": "carol", "password": PASSWORD})
    assert client.get("/admin/").status_code == 200


@pytest.mark.parametrize(
    ("name", "password", "why"),
    [
        ("carol", "short", "This password is too short"),
        ("owner", PASSWORD, "This name is taken"),
        ("alice", PASSWORD, "already exists"),
        ("a b", PASSWORD, "Enter a valid username"),
    ],
)
def test_the_command_refuses_in_words(
    name: str, password: str, why: str, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(password))
    with pytest.raises(CommandError, match=why):
        call_command("create_admin", name)
    assert not User.objects.filter(is_superuser=True).exists()


# -- invitations -----------------------------------------------------------------------------------


@pytest.fixture
def invited(settings: Settings) -> None:
    settings.SIGNUP = "invitation"


def invite(desk: Client, **form: str) -> str:
    """Make an invitation in the admin; the path of its link, which the next page shows."""
    form = {"email": "", "role": "person", **form}
    page = desk.post(reverse("admin:agents_invitation_add"), form, follow=True)
    (link,) = re.findall(r"<code>(https://memory\S+)</code>", page.content.decode())
    again = desk.get(reverse("admin:agents_invitation_changelist")).content.decode()
    assert link not in again  # it is shown once
    return path_of(link)


@pytest.mark.parametrize(("role", "administrator"), [("person", False), ("administrator", True)])
def test_an_invitation_lets_one_person_in(
    role: str, administrator: bool, desk: Client, invited: None
) -> None:
    path = invite(desk, role=role, email="dave@example.org")
    page = Client().get(path).content.decode()
    assert "You are invited" in page
    assert 'value="dave@example.org"' in page
    assert come_in(path, "dave").status_code == 302
    dave = User.objects.get(username="dave")
    assert (dave.is_staff, dave.is_superuser) == (administrator, administrator)
    again = come_in(path, "mallory")
    assert (again.status_code, GONE in again.content.decode()) == (410, True)
    assert Invitation.objects.get().state == "used by dave"
    listed = desk.get(reverse("admin:agents_invitation_changelist")).content.decode()
    assert "used by dave" in listed


def test_an_invitation_ends_after_a_week_and_when_it_is_revoked(
    desk: Client, invited: None
) -> None:
    late, revoked = invite(desk), invite(desk)
    first = Invitation.objects.order_by("pk")[0]
    assert timedelta(days=6) < first.expires_at - timezone.now() < timedelta(days=8)
    Invitation.objects.filter(pk=first.pk).update(expires_at=timezone.now())
    form = {"action": "revoke", "_selected_action": [each.pk for each in Invitation.objects.all()]}
    desk.post(reverse("admin:agents_invitation_changelist"), form)
    for path in (late, revoked):
        assert come_in(path, "mallory").status_code == 410
    assert not User.objects.filter(username="mallory").exists()
    assert {each.state for each in Invitation.objects.all()} == {"expired", "revoked"}


def test_who_was_invited_by_mail_gets_the_link_there(desk: Client, invited: None) -> None:
    path = invite(desk, email="dave@example.org")
    (sent,) = mail.outbox
    assert sent.to == ["dave@example.org"]
    assert f"https://memory.example.org{path}" in str(sent.body)


def test_without_mail_none_is_sent(desk: Client, invited: None, settings: Settings) -> None:
    settings.MAIL = False
    invite(desk, email="dave@example.org")
    assert not mail.outbox


def test_where_sign_up_is_closed_nobody_is_invited(
    desk: Client, invited: None, settings: Settings
) -> None:
    path = invite(desk)
    settings.SIGNUP = "closed"
    assert Client().get(path).status_code == 410
    assert desk.get(reverse("admin:agents_invitation_add")).status_code == 403
    page = desk.get(reverse("admin:agents_invitation_changelist")).content.decode()
    assert "as MEMORYWEB_SIGNUP is closed" in page


def test_who_only_works_in_the_admin_cannot_invite_administrators(
    invited: None, alice: User
) -> None:
    User.objects.filter(pk=alice.pk).update(is_staff=True)
    client = Client()
    client.force_login(alice)
    assert client.get(reverse("admin:agents_invitation_add")).status_code == 403


def test_the_log_in_page_names_sign_up_only_where_it_is_open(db: None, settings: Settings) -> None:
    assert "Sign up" not in Client().get(reverse("account_login")).content.decode()
    settings.SIGNUP = "open"
    assert "Sign up" in Client().get(reverse("account_login")).content.decode()
