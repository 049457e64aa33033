"""Messages in a real browser: waiting, failing, sent by the keyboard; agents that come and go."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Chat, button, composer, log, say
from tests.support.fake_openai import FakeOpenAI, gated, stall, text
from tests.support.fake_openai import status as refusal
from tests.support.server import MemoryWeb

pytestmark = pytest.mark.browser


def test_a_message_that_waits_can_be_changed_and_taken_back(
    server: MemoryWeb, model: FakeOpenAI, chat: Chat
) -> None:
    page = chat(server.make_agent())
    gate = gated(text("One."))
    model.script(gate, text("Two."))
    say(page, "First")
    expect(button(page, "Stop")).to_be_visible()
    say(page, "Second")
    say(page, "Third")
    waiting = page.get_by_role("list", name="Queued messages").get_by_role("listitem")
    expect(waiting).to_have_count(2)
    waiting.first.get_by_text("Second").first.click()
    editor = waiting.first.get_by_role("textbox", name="Queued message")
    editor.fill("Second, changed")
    button(waiting.last, "Remove from the queue").click()
    expect(waiting).to_have_count(1)
    expect(editor).to_have_value("Second, changed")
    button(waiting.first, "Save").click()
    expect(waiting.first.get_by_text("Second, changed").first).to_be_visible()
    gate.open()
    expect(log(page)).to_contain_text("Two.")
    expect(log(page)).to_contain_text("Second, changed")
    expect(log(page)).not_to_contain_text("Third")
    expect(waiting).to_have_count(0)


def test_a_run_that_failed_says_why_and_goes_on_after_retry(
    server: MemoryWeb, model: FakeOpenAI, chat: Chat
) -> None:
    page = chat(server.make_agent())
    model.script(refusal(401))
    say(page, "Hello")
    expect(log(page).get_by_role("alert")).to_contain_text("refused the key")
    model.script(text("Here I am."))
    button(log(page), "Retry").click()
    expect(log(page)).to_contain_text("Here I am.")
    expect(log(page).get_by_role("alert")).to_have_count(0)
    expect(log(page).get_by_text("Hello")).to_have_count(1)


def test_an_agent_is_renamed_deleted_and_brought_back(
    server: MemoryWeb, chat: Chat, expected_complaints: list[str]
) -> None:
    expected_complaints.append("404")
    agent = server.make_agent("Tutor of mine")
    page, other = chat(agent), chat(agent)
    page.get_by_role("link", name="Settings", exact=True).click()
    page.get_by_role("textbox", name="Name", exact=True).fill("Teacher")
    button(page, "Save").click()
    for tab in (page, other):
        expect(tab.get_by_role("heading", name="Teacher", level=1)).to_be_visible()
        agents = tab.get_by_role("navigation", name="Agents")
        expect(agents.get_by_role("link", name="Teacher")).to_be_visible()
        expect(tab).to_have_title(re.compile(r"^(\(\d+\) )?Teacher"))
    page.get_by_role("link", name="Settings", exact=True).click()
    page.get_by_role("link", name="Delete agent").click()
    expect(page.get_by_role("heading", name="Delete Teacher?")).to_be_visible()
    button(page, "Delete Teacher").click()
    expect(other.get_by_role("heading", name="This agent was deleted")).to_be_visible()
    answer = page.goto(f"{server.url}/agents/{agent}/")
    assert answer
    assert answer.status == 404
    page.get_by_role("link", name="Deleted agents").click()
    button(page, "Restore Teacher").click()
    expect(page.get_by_role("heading", name="Teacher", level=1)).to_be_visible()


def test_enter_sends_shift_enter_breaks_the_line_escape_stops(
    server: MemoryWeb, model: FakeOpenAI, chat: Chat
) -> None:
    page = chat(server.make_agent())
    model.script(stall("Once upon"))
    expect(composer(page)).to_be_focused()
    page.keyboard.type("One line")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("and another")
    expect(composer(page)).to_have_value("One line\nand another")
    page.keyboard.press("Enter")
    expect(log(page)).to_contain_text("Once upon")
    page.keyboard.press("Escape")
    expect(log(page)).to_contain_text("stopped here")
    assert server.rows("SELECT text FROM agents_run ORDER BY id DESC")[0] == (
        "One line\nand another",
    )


def test_an_empty_and_an_overlong_message_are_not_sent(server: MemoryWeb, chat: Chat) -> None:
    agent = server.make_agent()
    page = chat(agent)
    button(page, "Send").click()
    expect(page.get_by_text("The message is empty")).to_be_visible()
    composer(page).fill("x" * 100_001)
    button(page, "Send").click()
    expect(page.get_by_text("at most 100,000 are allowed")).to_be_visible()
    assert not server.runs(agent)
