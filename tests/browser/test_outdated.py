"""A page that its server cannot bring up to date any more."""

from __future__ import annotations

import signal
import sqlite3
from contextlib import closing

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Chat, composer
from tests.support.server import MemoryWeb, key_of

pytestmark = [pytest.mark.browser, pytest.mark.sqlite_only]


@pytest.fixture
def expected_complaints() -> list[str]:
    return ["WebSocket", "htmx:ws:error", "ERR_CONNECTION_(REFUSED|RESET)"]


def forget_the_log(server: MemoryWeb, agent: str) -> None:
    """While the server is away, events come and go that no page has seen."""
    server.kill()
    with closing(sqlite3.connect(server.data / "memoryweb.sqlite3")) as database:
        database.execute(
            "UPDATE agents_agent SET name = 'Coach', last_seq = last_seq + 9,"
            " pruned_seq = last_seq + 9 WHERE id = ?",
            [key_of(agent)],
        )
        database.commit()
    server.start()


def test_a_page_older_than_the_log_reloads_itself_and_keeps_what_is_typed(
    server: MemoryWeb, chat: Chat
) -> None:
    agent = server.make_agent("Tutor")
    page: Page = chat(agent)
    composer(page).fill("Do not lose me")
    forget_the_log(server, agent)
    expect(page.get_by_role("heading", name="Coach", level=1)).to_be_visible()
    expect(composer(page)).to_have_value("Do not lose me")
    expect(page.get_by_text("This page is too old")).to_be_hidden()


def test_a_page_in_which_something_else_is_typed_asks_first(server: MemoryWeb, chat: Chat) -> None:
    agent = server.make_agent("Tutor", human="Name: Bob")
    page: Page = chat(agent)
    page.get_by_role("button", name="Edit").first.click()
    editor = page.locator(".block-editor textarea").first
    editor.fill("Name: Sarah")
    forget_the_log(server, agent)
    expect(page.get_by_text("This page is too old to be brought up to date.")).to_be_visible()
    expect(editor).to_have_value("Name: Sarah")


def test_a_page_comes_back_after_a_restart_and_loses_nothing(server: MemoryWeb, chat: Chat) -> None:
    agent = server.make_agent("Tutor")
    page: Page = chat(agent)
    composer(page).fill("Are you back?")
    with page.expect_websocket():
        server.interrupt(by=signal.SIGTERM)
        server.start()
    composer(page).press("Enter")
    expect(page.get_by_role("log").get_by_text("Are you back?")).to_be_visible()
    expect(composer(page)).to_have_value("")
    expect(page.get_by_text("Reconnecting…")).to_be_hidden()
