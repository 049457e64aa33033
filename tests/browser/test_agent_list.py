"""The list of agents by keyboard, as it goes on, and what it tells; and the theme below it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import BrowserContext, expect

from agents.models.agent_list import FIRST
from tests.browser.conftest import Chat, button, follow
from tests.browser.stage import Stage, script
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.server import MemoryWeb

pytestmark = [pytest.mark.browser, pytest.mark.sqlite_only]
APPEND = ("core_memory_append", {"label": "human", "content": "Likes pie"})
MAKE = """
from agents.accounts import owner
from agents.memory.classes import ChatMemory
from agents.models import Agent
for n in range({}):
    Agent.create(owner(), f"Agent {{n:03}}", ChatMemory())
"""


def test_the_list_goes_on_and_is_one_stop_of_the_tab_key(
    context: BrowserContext, server: MemoryWeb
) -> None:
    server.command("shell", "-c", MAKE.format(FIRST + 20))
    page = context.new_page()
    page.goto(f"{server.url}/blocks/")
    lists = page.locator("#agent-lists")
    links = lists.locator(".listed .row > a")
    expect(links).to_have_count(FIRST)
    expect(lists.locator(":is(a, button)[tabindex='0']")).to_have_count(1)
    links.first.focus()
    page.keyboard.press("ArrowDown")
    expect(links.nth(1)).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(button(lists, "Pin Agent 058")).to_be_focused()
    page.keyboard.press("Enter")
    expect(links.first).to_contain_text("Agent 058")
    page.keyboard.press("End")
    expect(lists.get_by_role("link", name="Agent 000")).to_be_attached()
    addresses = links.evaluate_all("links => links.map((link) => link.href)")
    assert len(set(addresses)) == len(addresses) >= FIRST + 20

    lists.get_by_role("searchbox").fill("agent 00")
    expect(lists.locator("#agents-found .listed")).to_have_count(10)
    found = lists.locator("#agents-found .listed").first
    found.hover()
    found.get_by_role("button", name="Rename").click()
    page.get_by_role("textbox", name="Name").fill("Coach")
    page.keyboard.press("Enter")
    expect(found).to_contain_text("Coach")
    follow(page, found.get_by_role("link"))
    expect(page.get_by_role("heading", name="Coach", level=1)).to_be_visible()


def test_an_answer_elsewhere_is_unread_and_a_question_shows_in_the_icon(
    context: BrowserContext, server: MemoryWeb, model: FakeOpenAI, chat: Chat
) -> None:
    agent, other = server.make_agent("Reader", human="Name: Bob"), server.make_agent("Other")
    chat(agent).close()  # it was looked at
    page = chat(other)
    stage = Stage(server, model, agent)
    model.script(text("Here I am."))
    stage.send("Hello")
    stage.rest()
    row = page.locator("#agents .row").filter(has_text="Reader")
    expect(row).to_contain_text("(unread)")
    expect(page).to_have_title(re.compile(r"^\(\d+\) Other"))
    script(stage, "tools/approval/core_memory_append", {"requires_approval": True}, "PATCH")
    model.script(calls(APPEND))
    stage.send("I like pie.")
    expect(row).to_contain_text("(waits for you)")
    expect(page.locator("#favicon")).to_have_attribute("href", re.compile("waiting"))
    stage.stop()
    stage.rest()
    expect(page.locator("#favicon")).not_to_have_attribute("href", re.compile("waiting"))
    page.get_by_label("Theme").select_option("dark")
    expect(page.locator("html")).to_have_css("color-scheme", "dark")
    follow(page, row.get_by_role("link"))
    expect(page.locator("html")).to_have_css("color-scheme", "dark")
    page.get_by_label("Theme").select_option("auto")
    expect(row).not_to_contain_text("(unread)")
