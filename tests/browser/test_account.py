"""The account's pages in a browser: a passkey and an authenticator app, set up and used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import button
from tests.support.server import MemoryWeb
from tests.support.visitor import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.sqlite_only]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryWeb]:
    """A server where people log in, at the name that browsers take for safe without TLS."""
    with MemoryWeb(tmp_path_factory.mktemp("people"), MEMORYWEB_ACCOUNTS="1") as server:
        yield server


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A tab with a security key in it."""
    page = context.new_page()
    session: Any = context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    key = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
    }
    session.send("WebAuthn.addVirtualAuthenticator", {"options": key})
    yield page
    page.close()


def test_a_passkey_is_made_and_lets_its_owner_in(page: Page, server: MemoryWeb) -> None:
    site = f"http://localhost:{server.port}"
    page.goto(f"{site}/accounts/signup/")
    page.get_by_label("Username").fill("alice")
    for number in (1, 2):
        page.locator(f"#id_password{number}").fill(PASSWORD)
    button(page, "Sign up").click()
    page.get_by_role("link", name="alice").click()
    page.get_by_role("link", name="Second factor and passkeys").click()
    page.get_by_role("link", name="Add one").click()
    page.get_by_label("Password").fill(PASSWORD)  # asked for once more
    page.get_by_role("main").get_by_role("button").click()
    page.get_by_label("Name").fill("Laptop")
    page.get_by_label("Passwordless").check()
    page.locator("#mfa_webauthn_add").click()
    expect(page.get_by_role("heading", name="Recovery Codes")).to_be_visible()
    page.goto(f"{site}/accounts/2fa/webauthn/")
    expect(page.get_by_text("Laptop")).to_be_visible()

    page.goto(f"{site}/accounts/logout/")
    button(page.get_by_role("main"), "Log out").click()
    page.get_by_role("button", name="Log in with a passkey").click()
    expect(page.get_by_role("link", name="alice")).to_be_visible()
