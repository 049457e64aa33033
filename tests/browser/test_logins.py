"""Logging in with a second factor or a passkey, and a log-in that ends, as a browser shows it."""

from __future__ import annotations

import base64
import hmac
import struct
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import begin_as, button, composer, make_agent
from tests.support.server import MemoryWeb
from tests.support.visitor import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.sqlite_only]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryWeb]:
    """A server where people log in; the demo model answers."""
    with MemoryWeb(tmp_path_factory.mktemp("people"), MEMORYWEB_ACCOUNTS="1") as server:
        yield server


@pytest.fixture
def expected_complaints() -> list[str]:
    return ["htmx:ws:error: Connection not open"]


def sign_up(page: Page, address: str, name: str) -> None:
    page.goto(f"{address}/accounts/signup/")
    page.get_by_label("Username").fill(name)
    for number in (1, 2):
        page.locator(f"#id_password{number}").fill(PASSWORD)
    button(page, "Sign up").click()


def log_in(page: Page, name: str = "alice") -> None:
    page.get_by_label("Username").first.fill(name)
    page.get_by_label("Password").first.fill(PASSWORD)
    button(page.get_by_role("main"), "Log in").click()


def test_a_tab_says_that_one_was_logged_out_in_another_and_keeps_what_was_typed(
    context: BrowserContext, server: MemoryWeb
) -> None:
    page = context.new_page()
    sign_up(page, server.url, "alice")
    begin_as(page, "Tutor")
    with page.expect_websocket():
        make_agent(page, "Tutor")
    said = page.get_by_text("You were logged out, or your password was changed.")
    expect(said).to_be_hidden()

    other = context.new_page()
    other.goto(f"{server.url}/accounts/logout/")
    button(other.get_by_role("main"), "Log out").click()
    expect(said).to_be_visible()
    expect(page.get_by_text("Reconnecting…")).to_be_hidden()

    composer(page).fill("Do not lose me")
    composer(page).press("Enter")
    expect(page.get_by_text("You are no longer logged in. Your message is kept")).to_be_visible()

    page.get_by_role("link", name="Reload the page").click()
    log_in(page)
    expect(page.get_by_role("heading", name="Tutor", level=1)).to_be_visible()
    expect(composer(page)).to_have_value("Do not lose me")
    expect(said).to_be_hidden()
    composer(page).press("Enter")
    expect(page.get_by_role("log").get_by_text("Do not lose me")).to_be_visible()


def log_out(page: Page, address: str) -> None:
    page.goto(f"{address}/accounts/logout/")
    button(page.get_by_role("main"), "Log out").click()


def confirm(page: Page) -> None:
    page.get_by_label("Password").fill(PASSWORD)
    button(page, "Confirm").click()


def code(secret: str) -> str:
    """What an authenticator app shows now, as RFC 6238 has it."""
    counter = struct.pack(">Q", int(time.time()) // 30)
    digest = hmac.digest(base64.b32decode(secret), counter, "sha1")
    place = digest[-1] & 15
    number = struct.unpack(">I", digest[place : place + 4])[0] & 0x7FFFFFFF
    return f"{number % 1_000_000:06}"


def test_an_authenticator_app_is_set_up_and_asked_for_after_the_password(
    context: BrowserContext, server: MemoryWeb
) -> None:
    page = context.new_page()
    sign_up(page, server.url, "ben")
    page.goto(f"{server.url}/accounts/2fa/totp/activate/")
    confirm(page)
    secret = page.locator("#authenticator_secret").input_value()
    page.get_by_label("Authenticator code").fill(code(secret))
    button(page, "Activate").click()
    recovery = page.get_by_label("Unused codes").input_value().split()
    assert len(recovery) == 10
    log_out(page, server.url)
    page.goto(f"{server.url}/accounts/login/")
    log_in(page, "ben")
    expect(page.get_by_role("heading", name="Second factor")).to_be_visible()
    page.get_by_label("Code").fill("000000")
    button(page.get_by_role("main"), "Log in").click()
    expect(page.get_by_text("Incorrect code.")).to_be_visible()
    page.get_by_label("Code").fill(recovery[0])
    button(page.get_by_role("main"), "Log in").click()
    expect(page.get_by_text("Say something to your first agent")).to_be_visible()


def test_a_passkey_is_added_and_lets_one_in_without_a_password(
    context: BrowserContext, server: MemoryWeb
) -> None:
    address = server.url.replace("127.0.0.1", "localhost")  # browsers take no numbers
    page = context.new_page()
    authenticator = context.new_cdp_session(page)
    authenticator.send("WebAuthn.enable")
    abilities = {"hasResidentKey": True, "hasUserVerification": True, "isUserVerified": True}
    kind = {"protocol": "ctap2", "transport": "internal"}
    authenticator.send("WebAuthn.addVirtualAuthenticator", {"options": kind | abilities})
    page.goto(f"{address}/accounts/login/")
    button(page, "Log in with a passkey").click()
    expect(page.get_by_text("No key was used")).to_be_visible()
    sign_up(page, address, "cleo")
    page.goto(f"{address}/accounts/2fa/webauthn/add/")
    confirm(page)
    page.get_by_label("Name").fill("This computer")
    expect(page.get_by_label("Passwordless")).to_be_checked()
    button(page, "Add").click()
    expect(page.get_by_text("Security key added.")).to_be_visible()
    log_out(page, address)
    page.goto(f"{address}/accounts/login/")
    button(page, "Log in with a passkey").click()
    expect(page.get_by_text("Say something to your first agent")).to_be_visible()


def test_a_page_says_where_browsers_use_no_passkeys(
    context: BrowserContext, server: MemoryWeb
) -> None:
    page = context.new_page()
    page.goto(f"{server.url}/accounts/login/")
    button(page, "Log in with a passkey").click()
    expect(page.get_by_text("only where the address is a name with TLS")).to_be_visible()
