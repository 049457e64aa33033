"""Announcements, as a browser shows and hides them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.conftest import button, make_agent
from tests.support.server import MemoryWeb

pytestmark = [pytest.mark.browser, pytest.mark.sqlite_only]
ANNOUNCE = "from agents.models import Announcement; Announcement.objects.create(text='{}')"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryWeb]:
    with MemoryWeb(tmp_path_factory.mktemp("announcing")) as server:
        yield server


def test_it_is_there_above_the_chat_until_it_is_hidden(
    context: BrowserContext, server: MemoryWeb
) -> None:
    page = context.new_page()
    page.goto(f"{server.url}/agents/new/")
    with page.expect_websocket():
        make_agent(page, "Tutor")
    for text in ("Maintenance **tonight**", "A new model"):
        server.command("shell", "-c", ANNOUNCE.format(text))  # in another process, without Redis
    page.reload()
    announced = page.locator("#announcements")
    expect(announced.locator("strong")).to_have_text("tonight")
    button(announced.locator("[data-announcement]").first, "Hide this announcement").click()
    expect(announced).not_to_contain_text("Maintenance")
    expect(announced).to_contain_text("A new model")
    page.goto(f"{server.url}/blocks/")
    expect(announced).to_contain_text("A new model")
    expect(announced).not_to_contain_text("Maintenance")
    button(announced, "Hide this announcement").click()
    expect(announced.locator("[data-announcement]")).to_have_count(0)
