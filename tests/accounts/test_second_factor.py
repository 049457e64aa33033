"""A second factor: asked for after the password, also before the admin; its secrets encrypted."""

from __future__ import annotations

import re
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import (
    format_hotp_value,
    hotp_value,
    yield_hotp_counters_from_time,
)
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from tests.support.visitor import PASSWORD

pytestmark = pytest.mark.usefixtures("accounts")


def code(secret: str) -> str:
    """What an authenticator app shows now."""
    counters = list(yield_hotp_counters_from_time())  # those that are taken, in order
    return str(format_hotp_value(hotp_value(secret, counters[len(counters) // 2])))


@pytest.fixture
def olga(operator: User) -> User:
    operator.set_password(PASSWORD)
    operator.save()
    return operator


def log_in(client: Client, name: str = "olga") -> Any:
    form = {"login": name, "password": PASSWORD}
    return client.post(f"{reverse('account_login')}?next=/admin/", form)


def set_up(client: Client) -> str:
    """Set up an authenticator app, as its page says; the secret."""
    assert "reauthenticate" in client.get(reverse("mfa_activate_totp")).headers["Location"]
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    page = client.get(reverse("mfa_activate_totp")).content.decode()
    found = re.search(r'id="authenticator_secret"[^>]*value="([A-Z2-7]+)"', page)
    assert found, page
    done = client.post(reverse("mfa_activate_totp"), {"code": code(found[1])})
    assert done.status_code == 302
    return found[1]


def test_after_the_password_a_code_is_asked_for_also_before_the_admin(olga: User) -> None:
    client = Client()
    log_in(client)
    secret = set_up(client)
    again = Client()
    assert log_in(again).headers["Location"].startswith(reverse("mfa_authenticate"))
    assert "_auth_user_id" not in again.session
    assert again.get("/admin/").status_code == 302
    wrong = again.post(reverse("mfa_authenticate"), {"code": "000000"})
    assert "Incorrect code" in wrong.content.decode()
    codes = Authenticator.objects.get(type=Authenticator.Type.RECOVERY_CODES).wrap()
    right = again.post(reverse("mfa_authenticate"), {"code": codes.get_unused_codes()[0]})
    assert right.headers["Location"] == "/admin/"
    assert again.get("/admin/").status_code == 200
    assert secret


def test_secrets_are_stored_encrypted_and_useless_under_another_key(
    olga: User, settings: Settings
) -> None:
    client = Client()
    log_in(client)
    secret = set_up(client)
    stored = Authenticator.objects.get(type=Authenticator.Type.TOTP)
    assert secret not in str(stored.data)
    assert stored.wrap().validate_code(code(secret)) in (True, False)
    settings.SECRET_KEY = "another key"
    assert not stored.wrap().validate_code(code(secret))


def test_codes_are_limited_as_passwords_are(olga: User) -> None:
    client = Client()
    log_in(client)
    set_up(client)
    again = Client()
    log_in(again)
    said = ""
    for number in range(12):
        page = again.post(reverse("mfa_authenticate"), {"code": f"{number:06}"})
        said = page.content.decode()
    assert "Too many failed login attempts" in said or page.status_code == 429


def test_passkeys_are_offered_where_one_logs_in_and_without_inline_scripts(
    client: Client, db: None
) -> None:
    page = client.get(reverse("account_login")).content.decode()
    assert "passkey" in page
    for script in re.findall(r"<script([^>]*)>", page):
        assert "src=" in script or 'type="application/json"' in script
    assert client.get(reverse("mfa_login_webauthn"), headers={"accept": "application/json"}).json()[
        "request_options"
    ]["publicKey"]["challenge"]
