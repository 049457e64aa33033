"""What a block shows of its changes, and what is copied from it."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import Chat, block, button, caught_up, converse
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.server import MemoryWeb

pytestmark = pytest.mark.browser

SELECT = """(value) => {
  const range = document.createRange();
  range.selectNodeContents(value);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}"""
RENAMED = ("core_memory_replace", {"label": "human", "old_content": "Bob", "new_content": "Sarah"})
ADDED = ("core_memory_append", {"label": "human", "content": "- name:  Sarah"})


def copied(page: Page, value: Locator) -> str:
    """What lands in the clipboard where a block's text is selected and copied."""
    value.evaluate(SELECT)
    page.keyboard.press("Control+c")
    return page.evaluate("() => navigator.clipboard.readText()")  # type: ignore[no-any-return]


def test_all_that_a_run_changed_is_marked_and_a_block_copies_as_what_it_is(
    chat: Chat, context: BrowserContext, server: MemoryWeb, model: FakeOpenAI
) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    agent = server.make_agent(human="Name: Bob")
    page = chat(agent)
    converse(server, agent, model, "I am Sarah.", calls(RENAMED), calls(ADDED), text("Noted."))
    caught_up(page, server, agent)
    value = block(page).locator(".value")
    expect(value.locator("ins")).to_have_text("Sarah\n- name:  Sarah")
    expect(block(page)).to_contain_text("2 changes since the run began")
    expect(value.locator(".repeat")).to_be_visible()
    expect(value.locator("del")).to_be_hidden()  # it was to be seen for two seconds
    assert copied(page, value) == server.block(agent)[1] == "Name: Sarah\n- name:  Sarah"
    button(block(page), "Show last change").click()
    expect(value.locator("del")).to_have_text("Bob")
    expect(value.locator("del")).to_be_visible()
    assert copied(page, value) == "Name: Sarah\n- name:  Sarah"
    button(block(page), "Undo").click()
    expect(button(block(page), "Redo")).to_be_visible()
    button(block(page), "Undo").click()
    expect(value.locator("ins")).to_have_text("Bob")
    button(block(page), "Redo").click()
    expect(value.locator("ins")).to_have_text("Sarah")
    button(block(page), "Redo").click()
    expect(button(block(page), "Redo")).to_have_count(0)
    assert server.block(agent)[1] == "Name: Sarah\n- name:  Sarah"
