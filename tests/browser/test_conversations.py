"""Several conversations of one agent, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Chat, block, button, converse, log, say
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.server import MemoryWeb

pytestmark = pytest.mark.browser


@pytest.fixture
def agent(server: MemoryWeb, model: FakeOpenAI) -> str:
    """An agent that was spoken to once, so that its first conversation is not the empty one."""
    agent = server.make_agent()
    converse(server, agent, model, "Hello", text("Hi."))
    return agent


def begin(page: Page) -> None:
    """Begin a conversation from the list."""
    button(page, "New conversation").click()
    page.wait_for_url("**/conversations/**")


def test_two_tabs_show_two_conversations_and_one_memory(
    agent: str, model: FakeOpenAI, chat: Chat
) -> None:
    first, second = chat(agent), chat(agent)
    begin(second)
    append = ("core_memory_append", {"label": "human", "content": "Likes pie"})
    model.script(calls(append), text("Noted."))
    say(second, "I like pie")
    expect(log(second)).to_contain_text("Noted.")
    expect(block(first)).to_contain_text("Likes pie")
    expect(log(first)).not_to_contain_text("I like pie")
    listed = first.get_by_role("list", name="Conversations")
    expect(listed).to_contain_text("I like pie")
    model.script(text("You are in the first one."))
    say(first, "Where am I?")
    expect(log(first)).to_contain_text("You are in the first one.")
    expect(log(second)).not_to_contain_text("Where am I?")
    second.reload()
    expect(log(second)).to_contain_text("Noted.")


def test_a_conversation_is_renamed_found_archived_and_deleted(
    agent: str, model: FakeOpenAI, chat: Chat
) -> None:
    page = chat(agent)
    begin(page)
    model.script(text("Under the blue pot."))
    say(page, "Where is the key?")
    expect(log(page)).to_contain_text("blue pot")
    menu = page.locator(".conversation-menu")
    expect(menu).to_contain_text("Where is the key?")
    menu.locator("summary").click()
    page.get_by_label("Title").fill("The key")
    button(page, "Rename").click()
    expect(menu.locator("summary")).to_contain_text("The key")
    page.get_by_role("link", name="All conversations").click()
    page.get_by_role("searchbox").fill("blue pot")
    button(page, "Search").click()
    expect(page.locator("mark, .found-messages")).to_contain_text("Under the blue pot")
    page.get_by_role("link", name="The key").last.click()
    expect(log(page)).to_contain_text("blue pot")
    menu.locator("summary").click()
    button(page, "Archive").click()
    expect(page.get_by_role("heading", name="Conversations of")).to_be_visible()
    expect(page.locator(".all-conversations")).to_contain_text("archived")
    page.locator(".all-conversations").get_by_role("link", name="The key").click()
    menu.locator("summary").click()
    page.get_by_role("link", name="Delete…").click()
    button(page, "Delete this conversation").click()
    expect(page.locator(".all-conversations")).not_to_contain_text("The key")


def test_a_tab_is_told_that_its_conversation_was_deleted(
    agent: str, server: MemoryWeb, chat: Chat
) -> None:
    page = chat(agent)
    begin(page)
    path = page.url.removeprefix(server.url)
    assert server.post(f"{path}delete/").status == 302
    expect(page.get_by_role("heading", name="This conversation was deleted")).to_be_visible()
