"""The page by keyboard, on a phone, and for screen readers."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import (
    Chat,
    block,
    button,
    change_by_the_agent,
    composer,
    log,
    memory,
    status,
)
from tests.support.fake_openai import FakeOpenAI
from tests.support.server import MemoryWeb

pytestmark = pytest.mark.browser
KNOWN = "Name: Bob\nLives in Riga\nLikes tea"
FOCUSABLE = "a[href], button, input:not([type=hidden]), textarea, summary, [tabindex='0']"
NOT_REACHED = """(selector) => [...document.querySelectorAll(selector)]
  .filter((element) => element.tabIndex >= 0 && !element.disabled)
  .filter((element) => element.checkVisibility({visibilityProperty: true}))
  .filter((element) => !window.reached.has(element))
  .map((element) => element.outerHTML.slice(0, 120))"""


def test_tab_reaches_everything(server: MemoryWeb, model: FakeOpenAI, chat: Chat) -> None:
    agent = server.make_agent(human=KNOWN)
    change_by_the_agent(server, model, agent)
    page = chat(agent)
    page.evaluate("() => { document.activeElement.blur(); window.reached = new Set(); }")
    for _ in range(page.locator(FOCUSABLE).count() + 5):
        page.keyboard.press("Tab")
        page.evaluate("() => window.reached.add(document.activeElement)")
    assert page.evaluate(NOT_REACHED, FOCUSABLE) == []


def test_on_a_narrow_page_the_memory_is_a_drawer_that_counts_what_was_not_seen(
    server: MemoryWeb, model: FakeOpenAI, chat: Chat
) -> None:
    agent = server.make_agent(human=KNOWN)
    page = chat(agent)
    page.set_viewport_size({"width": 390, "height": 844})
    opener = page.get_by_role("button", name=re.compile("^Memory"))
    expect(opener).to_be_visible()
    expect(memory(page)).to_be_hidden()
    change_by_the_agent(server, model, agent)
    expect(opener).to_have_accessible_name("Memory · 1 change")
    opener.click()
    expect(memory(page)).to_be_visible()
    expect(block(page)).to_contain_text("Sarah")
    page.keyboard.press("Escape")
    expect(memory(page)).to_be_hidden()
    expect(opener).to_have_accessible_name("Memory")


def test_the_page_is_made_as_people_and_screen_readers_expect(
    server: MemoryWeb, chat: Chat
) -> None:
    page = chat(server.make_agent(human=KNOWN))
    expect(log(page)).to_have_count(1)
    expect(composer(page)).to_have_count(1)
    expect(button(page, "Send")).to_be_visible()
    expect(button(page, "Stop")).to_be_hidden()
    expect(status(page)).to_have_count(1)
    expect(page.get_by_role("main")).to_have_count(1)
    for label in ("persona", "human"):
        expect(block(page, label)).to_have_count(1)
    expect(log(page)).to_have_attribute("aria-live", "off")
