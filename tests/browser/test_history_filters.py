"""The History tab's search and filters in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Chat, button, change_by_the_agent
from tests.browser.panels import entries, entry, panel, queries, tab
from tests.support.fake_openai import FakeOpenAI
from tests.support.server import MemoryWeb

pytestmark = pytest.mark.browser


def test_the_history_is_searched_and_filtered_and_stays_so_while_it_grows(
    chat: Chat, agent: str, server: MemoryWeb, model: FakeOpenAI
) -> None:
    change_by_the_agent(server, model, agent)
    server.edit_block(agent, "Name: Sarah\nLikes tea")
    page = chat(agent)
    tab(page, "History").click()
    expect(entries(page)).to_have_count(2)
    search = panel(page).get_by_role("searchbox")
    search.fill("bob")
    search.press("Enter")
    expect(entries(page)).to_have_count(1)
    expect(entry(page, 1)).to_contain_text("Bob")
    assert queries(page) == "?panel=history&q=bob"
    button(panel(page), "Clear the search and the filters").click()
    expect(entries(page)).to_have_count(2)
    panel(page).get_by_text("Filters", exact=True).click()
    panel(page).get_by_label("Tool").select_option("core_memory_replace")
    expect(entries(page)).to_have_count(1)
    server.edit_block(agent, "Name: Sarah")
    button(panel(page), "Clear the search and the filters").click()
    expect(entries(page)).to_have_count(3)
