"""The page of scheduled messages, open while they are added, sent and stopped elsewhere."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Chat, button
from tests.support.server import MemoryWeb

pytestmark = pytest.mark.browser


def test_an_open_page_shows_what_is_scheduled_and_stopped_elsewhere(
    server: MemoryWeb, chat: Chat
) -> None:
    agent = server.make_agent()
    pages = [chat(agent), chat(agent)]
    for page in pages:
        page.goto(f"{page.url.rstrip('/')}/schedules/")
    first, second = pages
    first.get_by_role("textbox", name="Message").fill("Good morning")
    first.get_by_label("Or again and again (cron)").fill("0 9 * * 1-5")
    button(first, "Schedule message").click()
    expect(second.locator("#schedules")).to_contain_text("Good morning")
    second.get_by_role("textbox", name="Message").fill("Still being typed")
    button(first, "Stop").click()
    expect(second.locator("#schedules")).to_contain_text("No messages are scheduled.")
    expect(second.get_by_role("textbox", name="Message")).to_have_value("Still being typed")
