"""Logging in by an account elsewhere, at a real provider of OpenID Connect on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from agents.models import AuditEntry
from tests.support.oidc import CLIENT, SECRET, Provider, provider
from tests.support.settings import settings_of

LOG_IN = "/accounts/oidc/company/login/"


@pytest.fixture
def company(accounts: None, db: None, settings: Settings) -> Iterator[Provider]:
    with provider() as server:
        settings.SOCIALACCOUNT_PROVIDERS = {
            "openid_connect": {
                "APPS": [
                    {
                        "provider_id": "company",
                        "name": "company",
                        "client_id": CLIENT,
                        "secret": SECRET,
                        "settings": {"server_url": server.url, "oauth_pkce_enabled": True},
                    }
                ]
            }
        }
        settings.SIGNUP = "closed"
        settings.FIRST_IS_ADMINISTRATOR = False
        settings.LOGIN_ORIGINS = ["https:", server.url]
        yield server


def go(client: Client, process: str = "login") -> str:
    """Begin at our page, go to the provider and come back; the address or page where that ends."""
    there = client.post(f"{LOG_IN}?process={process}").headers["Location"]
    back = httpx2.get(there, follow_redirects=False).headers["Location"]
    page = client.get(back.removeprefix("http://testserver"))
    return page.headers.get("Location") or page.content.decode()


def test_the_log_in_page_offers_it(company: Provider) -> None:
    page = Client().get(reverse("account_login")).content.decode()
    assert "Log in with company" in page
    assert LOG_IN in page
    asks = Client().get(LOG_IN)  # looking begins nothing
    assert asks.status_code == 200
    assert not company.asked
    assert f"form-action 'self' https: {company.url};" in asks.headers["Content-Security-Policy"]


def test_a_stranger_from_there_gets_no_account_where_sign_up_is_closed(company: Provider) -> None:
    client = Client()
    assert "Sign-up is closed" in go(client)
    assert not User.objects.exists()


def test_whom_the_settings_name_gets_an_account_and_comes_back_to_it(
    company: Provider, settings: Settings
) -> None:
    settings.SIGNUP_BY = ["company"]
    assert go(Client()) == "/"
    dave = User.objects.get()
    assert (dave.username, dave.email) == ("dave", "dave@example.org")
    assert (dave.is_staff, dave.is_superuser, dave.has_usable_password()) == (False, False, False)
    again = Client()
    assert go(again) == "/"
    assert again.session["_auth_user_id"] == str(dave.pk)
    assert User.objects.count() == 1
    assert {"state", "code_challenge"} <= company.asked[0].keys()


def test_the_same_address_elsewhere_is_no_way_into_an_account(
    company: Provider, settings: Settings, alice: User
) -> None:
    User.objects.filter(pk=alice.pk).update(email="dave@example.org")
    settings.SIGNUP_BY = ["company"]
    client = Client()
    go(client)
    assert "_auth_user_id" not in client.session


def test_an_account_is_connected_by_whoever_is_logged_in(company: Provider, alice: User) -> None:
    alice.set_password("x")
    alice.save()
    client = Client()
    client.force_login(alice)
    assert go(client, "connect") == reverse("socialaccount_connections")
    assert alice.socialaccount_set.get().uid == "4711"  # type: ignore[attr-defined]
    noted = AuditEntry.objects.get(action=AuditEntry.Action.ELSEWHERE_CHANGED)
    assert (noted.user, noted.details) == (alice, {"connected": "company"})
    assert go(other := Client()) == "/"
    assert other.session["_auth_user_id"] == str(alice.pk)


def test_a_disabled_account_does_not_come_in(company: Provider, settings: Settings) -> None:
    settings.SIGNUP_BY = ["company"]
    go(Client())
    User.objects.update(is_active=False)
    client = Client()
    go(client)
    assert "_auth_user_id" not in client.session


# -- settings --------------------------------------------------------------------------------------

OIDC = {"OIDC": "company=https://id.example.org"}
KEYS = {"LOGIN_ID_COMPANY": "i", "LOGIN_SECRET_COMPANY": "s"}


def test_providers_come_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    github = {"SOCIAL_LOGINS": "github", "LOGIN_ID_GITHUB": "j", "LOGIN_SECRET_GITHUB": "t"}
    found = settings_of(tmp_path, monkeypatch, **OIDC, **KEYS, **github, SIGNUP_BY="company")
    (app,) = found["SOCIALACCOUNT_PROVIDERS"]["openid_connect"]["APPS"]
    assert (app["provider_id"], app["client_id"], app["secret"]) == ("company", "i", "s")
    assert app["settings"]["server_url"] == "https://id.example.org"
    assert found["SOCIALACCOUNT_PROVIDERS"]["github"]["APPS"][0]["secret"] == "t"
    assert found["LOGIN_ORIGINS"] == ["https:", "https://id.example.org"]


@pytest.mark.parametrize(
    ("variables", "why"),
    [
        ({**OIDC}, "MEMORYWEB_LOGIN_ID_COMPANY and MEMORYWEB_LOGIN_SECRET_COMPANY"),
        ({"OIDC": "https://id.example.org"}, "which is no name=address"),
        ({"SOCIAL_LOGINS": "myspace"}, "Choose from github, gitlab, google, microsoft"),
        ({"SIGNUP_BY": "company"}, "by which nobody logs in here"),
    ],
)
def test_a_wrong_setting_is_refused_in_words(
    variables: dict[str, str], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ImproperlyConfigured, match=why):
        settings_of(tmp_path, monkeypatch, **variables)
