"""Several conversations of one agent, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Chat, block, button, converse, follow, log, say
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.server import MemoryWeb, dashed, eventually

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
    menu = page.locator(".conversation-menu:not(.model-menu)")
    expect(menu).to_contain_text("Where is the key?")
    menu.locator("summary").click()
    page.get_by_label("Title").fill("The key")
    button(menu, "Rename").click()
    expect(menu.locator("summary")).to_contain_text("The key")
    page.get_by_role("link", name="All conversations").click()
    page.locator("#main").get_by_role("searchbox").fill("blue pot")
    button(page.locator("#main"), "Search").click()
    expect(page.locator("mark, .found-messages")).to_contain_text("Under the blue pot")
    page.get_by_role("link", name="The key").last.click()
    expect(log(page)).to_contain_text("blue pot")
    menu.locator("summary").click()
    button(menu, "Archive").click()
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


def test_the_list_is_filtered_and_marks_what_was_not_read(
    agent: str, server: MemoryWeb, model: FakeOpenAI, chat: Chat
) -> None:
    for number in range(9):
        server.post(f"/agents/{agent}/conversations/new/")
        path = server.rows("SELECT id FROM agents_conversation ORDER BY created_at DESC")[0][0]
        conversation = f"/agents/{agent}/conversations/{dashed(path)}/"
        model.script(text(f"Answer {number}."))
        server.post(f"{conversation}messages/", text=f"Question {number}", key=f"q-{number}")
        eventually(lambda: server.is_idle(agent))
    page = chat(agent)
    listed = page.get_by_role("list", name="Conversations", exact=True)
    last = listed.get_by_role("link", name="Question 8")
    follow(page, last)
    follow(page, listed.get_by_role("link", name="Question 3"))
    expect(page.locator(".conversations [aria-current]")).to_be_in_viewport()
    model.script(text("Here I am."))
    server.post(f"{conversation}messages/", text="And?", key="and")
    expect(listed.get_by_role("link", name="Question 8 (unread)")).to_be_visible()
    box = page.get_by_role("searchbox", name="Filter conversations")
    box.fill("question 5")
    found = page.get_by_role("list", name="Conversations found")
    expect(found.get_by_role("link")).to_have_count(1)
    expect(last).to_be_hidden()
    model.script(text("Still here."))
    server.post(f"{conversation}messages/", text="Well?", key="well")  # draws the list anew
    eventually(lambda: server.is_idle(agent))
    expect(page.locator("#agents .last-line").first).to_contain_text("Still here.")
    expect(box).to_have_value("question 5")
    expect(found.get_by_role("link")).to_have_count(1)
    expect(last).to_be_hidden()
    box.fill("")
    expect(listed.get_by_role("link", name="Question 8 (unread)")).to_be_visible()
