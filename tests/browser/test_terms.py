"""Terms of the glossary are explained where they stand."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from agents.text.glossary import GLOSSARY
from tests.support.server import MemoryWeb

pytestmark = [pytest.mark.browser, pytest.mark.sqlite_only]


def test_a_term_is_explained_by_pointer_keyboard_and_touch(
    context: BrowserContext, browser: Browser, server: MemoryWeb
) -> None:
    page = context.new_page()
    page.goto(f"{server.url}/blocks/")
    term = page.get_by_role("button", name="core memory")
    tip = page.locator(".term-tip")
    expect(term).to_have_accessible_description(GLOSSARY["core memory"])
    term.hover()
    expect(tip).to_have_text(GLOSSARY["core memory"])
    page.get_by_role("heading", level=1).hover()
    expect(tip).to_be_hidden()
    page.get_by_role("link", name="New block").focus()
    page.keyboard.press("Tab")
    expect(term).to_be_focused()
    expect(tip).to_be_visible()
    expect(term).to_have_accessible_description(GLOSSARY["core memory"])
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()

    touch = browser.new_context(has_touch=True, viewport={"width": 390, "height": 844})
    phone = touch.new_page()
    phone.goto(f"{server.url}/blocks/")
    phone.get_by_role("button", name="attached").tap()
    expect(phone.locator(".term-tip")).to_have_text(GLOSSARY["attach"])
    phone.get_by_role("heading", level=1).tap()
    expect(phone.locator(".term-tip")).to_be_hidden()
    touch.close()
