"""Mail: links that nobody else reads, and pages that say where there is none."""

from __future__ import annotations

import smtplib
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from tests.support.settings import settings_of

pytestmark = pytest.mark.usefixtures("accounts")


@pytest.fixture
def alice(alice: User) -> User:
    alice.email = "alice@example.com"
    alice.save()
    return alice


def forgot(client: Client) -> str:
    address = reverse("account_reset_password")
    return str(client.post(address, {"email": "alice@example.com"}, follow=True).content.decode())


def test_a_link_is_at_the_sites_own_address_whatever_the_request_names(
    client: Client, alice: User, settings: Settings
) -> None:
    settings.SITE_URL = "https://memory.example.org"
    forgot(client)
    (sent,) = mail.outbox
    assert "https://memory.example.org/accounts/password/reset/key/" in str(sent.body)
    assert "testserver/" not in str(sent.body)


def test_without_mail_the_page_says_whom_to_ask(
    client: Client, alice: User, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.MAIL = False
    for page in (client.get(reverse("account_reset_password")).content.decode(), forgot(client)):
        assert "This server cannot send mail" in page
        assert "Ask the person who runs it" in page
        assert 'name="email"' not in page
    assert not mail.outbox
    assert "/accounts/" not in caplog.text


@pytest.mark.parametrize("there_is_mail", [False, True])
def test_the_page_says_that_a_mail_was_sent_only_where_one_was(
    there_is_mail: bool, client: Client, alice: User, settings: Settings
) -> None:
    settings.MAIL = there_is_mail
    client.force_login(alice)
    form = {"email": "alice@example.org", "action_add": ""}
    page = client.post(reverse("account_email"), form, follow=True).content.decode()
    assert ("cannot send mail" in page) is not there_is_mail
    assert ("email sent to" in page.lower()) is there_is_mail
    assert len(mail.outbox) == there_is_mail


def test_a_mail_that_cannot_be_sent_is_told_in_the_page(
    client: Client, alice: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise smtplib.SMTPServerDisconnected("gone")

    monkeypatch.setattr("django.core.mail.EmailMessage.send", fail)
    assert "The mail could not be sent" in forgot(client)
    assert "A mail could not be sent: SMTPServerDisconnected" in caplog.text
    assert "/accounts/" not in caplog.text


SITE = {"URL": "https://memory.example.org"}


@pytest.mark.parametrize("variables", [SITE, {}])
def test_mail_for_the_console_is_refused_where_others_come_in(
    variables: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMAIL_URL", "consolemail://")
    monkeypatch.setenv("DATABASE_URL", "")
    if variables:
        with pytest.raises(ImproperlyConfigured, match="EMAIL_URL would print mails in the log"):
            settings_of(tmp_path, monkeypatch, **variables)
    else:
        assert settings_of(tmp_path, monkeypatch)["MAIL"]


def test_without_a_mail_server_nothing_is_printed_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMAIL_URL", "")
    found = settings_of(tmp_path, monkeypatch, **SITE)
    assert (found["MAIL"], found["EMAIL_BACKEND"].rpartition(".")[0][-5:]) == (False, "dummy")
    assert found["DEFAULT_FROM_EMAIL"] == "memoryweb@memory.example.org"


@pytest.mark.parametrize(
    ("url", "database", "signup", "first"),
    [
        ("", "", "open", True),
        ("http://localhost:8283", "", "open", True),
        ("https://memory.example.org", "", "closed", False),
        ("", "postgres://a:b@127.0.0.1/c", "closed", False),
    ],
)
def test_who_may_make_an_account_without_further_settings(
    url: str,
    database: str,
    signup: str,
    first: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DATABASE_URL", database)
    found = settings_of(tmp_path, monkeypatch, URL=url, ACCOUNTS="1")
    assert (found["SIGNUP"], found["FIRST_IS_ADMINISTRATOR"]) == (signup, first)


def test_a_sign_up_of_another_kind_is_refused_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"Choose open .* invitation .* or closed"):
        settings_of(tmp_path, monkeypatch, SIGNUP="no")
