"""Many blocks and long ones in a real browser: the index, the filter, all of a value, copying."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.conftest import Chat, block, button
from tests.support.server import MemoryWeb

pytestmark = pytest.mark.browser

LONG = "\n".join(f"Line {n}" for n in range(1, 1001))


def test_a_long_block_among_many_is_found_opened_and_copied(
    chat: Chat, context: BrowserContext, server: MemoryWeb
) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    agent = server.make_agent("Tutor", human="Name: Bob")
    for number in range(7):
        form: dict[str, str | int] = {"label": f"notes {number}", "limit": 20_000, "kind": "text"}
        form["value"] = LONG
        assert server.post(f"/agents/{agent}/blocks/new/", **form).status == 200
    page = chat(agent)
    index = page.get_by_role("navigation", name="Blocks, changed ones first")
    expect(index.get_by_role("link")).to_have_count(9)
    server.edit_block(agent, "Name: Sarah")
    expect(index.get_by_role("link").first).to_have_text("human")
    index.get_by_role("link", name="notes 6").click()
    long = block(page, "notes 6")
    expect(long).to_be_focused()
    expect(long).to_be_in_viewport()
    expect(long).to_contain_text("Lines 1–12 of 1,000")
    expect(long).not_to_contain_text("Line 13")
    button(long, "Copy").click()
    expect(button(long, "Copied")).to_be_visible()
    assert page.evaluate("() => navigator.clipboard.readText()") == LONG
    button(long, "Show all").click()
    expect(long).to_contain_text("Line 1000")
    form = {"value": LONG + "\nLine 1001", "version": 0}
    assert server.post(str(long.get_attribute("data-at")), **form).status == 200
    expect(long.locator("ins")).to_contain_text("1001")  # drawn anew, and still all of it
    expect(long).to_contain_text("Line 500")
    button(long, "Show less").click()
    expect(long).not_to_contain_text("Line 500")
    page.get_by_role("searchbox", name="Filter the blocks").fill("NOTES 3")
    expect(block(page, "notes 3")).to_be_visible()
    expect(page.locator("#blocks > .block:visible")).to_have_count(1)
    expect(index.get_by_role("link")).to_have_count(1)
    page.get_by_role("searchbox", name="Filter the blocks").fill("nonsense")
    expect(index.get_by_text("No block has that")).to_be_visible()
