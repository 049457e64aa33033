"""An agent that two people share, each in a browser of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import begin_as, block, button, composer, log, make_agent, say
from tests.support.server import MemoryWeb
from tests.support.visitor import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.sqlite_only]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryWeb]:
    """A server where people log in; the demo model answers."""
    with MemoryWeb(tmp_path_factory.mktemp("people"), MEMORYWEB_ACCOUNTS="1") as server:
        yield server


def join(page: Page, server: MemoryWeb, name: str) -> Page:
    """The page of somebody who has just made an account."""
    page.goto(f"{server.url}/accounts/signup/")
    page.get_by_label("Username").fill(name)
    for number in (1, 2):
        page.locator(f"#id_password{number}").fill(PASSWORD)
    button(page, "Sign up").click()
    expect(page.get_by_label("Say something to your first agent")).to_be_focused()
    return page


def share(page: Page, address: str, name: str, role: str) -> None:
    page.goto(f"{address}sharing/")
    page.get_by_label("User or group").fill(name)
    page.get_by_label("They").select_option(label=role)
    button(page, "Share").click()
    expect(page.get_by_role("list", name="Shared with")).to_contain_text(name)
    page.goto(address)


def test_two_people_see_each_other_and_only_what_they_may_do_is_offered(
    browser: Browser, context: BrowserContext, server: MemoryWeb
) -> None:
    anas = join(context.new_page(), server, "ana")
    bens = join(browser.new_context().new_page(), server, "ben")
    begin_as(anas, "Tutor")
    make_agent(anas, "Tutor")
    address = anas.url
    share(anas, address, "ben", "may look")

    bens.goto(address)
    expect(anas.locator("#presence")).to_have_text("ben")
    expect(bens.locator("#presence")).to_have_text("ana")
    expect(bens.get_by_text("You may look at this agent, and not talk to it.")).to_be_visible()
    expect(composer(bens)).to_be_hidden()
    expect(button(block(bens), "Edit")).to_be_hidden()
    expect(button(block(anas), "Edit")).to_be_visible()

    tab = context.new_page()
    share(tab, address, "ben", "may talk")
    expect(composer(bens)).to_be_visible()  # without a reload
    say(bens, "My name is Ben and I like tea.")
    expect(log(anas)).to_contain_text("and I like tea.")
    expect(log(anas).locator(".message.user .who")).to_have_text("ben")
    expect(block(bens)).to_contain_text("Likes tea", timeout=20_000)

    tab.goto(f"{address}sharing/")
    button(tab, "Stop sharing with ben").click()
    expect(bens.get_by_text("it may no longer be shared with you")).to_be_visible()
    expect(anas.locator("#presence")).to_have_text("")
    bens.context.close()
