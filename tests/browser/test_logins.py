"""A log-in that ends, as a browser shows it."""

from __future__ import annotations

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


def log_in(page: Page) -> None:
    page.get_by_label("Username").first.fill("alice")
    page.get_by_label("Password").first.fill(PASSWORD)
    button(page.get_by_role("main"), "Log in").click()


def test_a_tab_says_that_one_was_logged_out_in_another_and_keeps_what_was_typed(
    context: BrowserContext, server: MemoryWeb
) -> None:
    page = context.new_page()
    page.goto(f"{server.url}/accounts/signup/")
    page.get_by_label("Username").fill("alice")
    for number in (1, 2):
        page.locator(f"#id_password{number}").fill(PASSWORD)
    button(page, "Sign up").click()
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
