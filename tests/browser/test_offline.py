"""A browser without a network: it is said at once, and nothing seems to work and does nothing."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.conftest import Chat, block, button, composer, log
from tests.support.fake_openai import FakeOpenAI, text
from tests.support.server import MemoryWeb, eventually

pytestmark = pytest.mark.browser
OFFLINE = "You are offline. A message that you send now is kept here"
BACK = 30_000  # milliseconds


@pytest.fixture
def expected_complaints() -> list[str]:
    return ["ERR_INTERNET_DISCONNECTED", "WebSocket", "htmx:ws:error", "htmx:error"]


def test_a_message_typed_offline_is_kept_and_sent_once_when_the_network_is_back(
    context: BrowserContext, server: MemoryWeb, model: FakeOpenAI, chat: Chat
) -> None:
    agent = server.make_agent("Tutor", human="Name: Bob")
    page = chat(agent)
    context.set_offline(True)
    expect(page.get_by_text(OFFLINE)).to_be_visible()
    composer(page).fill("Are you there?")
    composer(page).press("Enter")
    expect(page.get_by_text("Your message is kept here, and is sent when you are")).to_be_visible()
    expect(composer(page)).to_have_value("Are you there?")
    button(block(page), "Edit").click()
    expect(page.get_by_text("The server cannot be reached, so nothing was done")).to_be_visible()
    model.script(text("Here I am."))
    context.set_offline(False)
    expect(log(page)).to_contain_text("Here I am.", timeout=BACK)
    expect(page.get_by_text(OFFLINE)).to_be_hidden()
    expect(composer(page)).to_have_value("")
    eventually(lambda: server.runs(agent) == [("Are you there?", "done")])


def test_a_form_that_cannot_be_sent_says_so_and_keeps_what_was_typed(
    context: BrowserContext, server: MemoryWeb
) -> None:
    page = context.new_page()
    page.goto(f"{server.url}/agents/{server.make_agent()}/settings/")
    name = page.get_by_role("textbox", name="Name", exact=True)
    name.fill("Another name")
    context.set_offline(True)
    expect(page.get_by_text("What needs the server can be done when you are back")).to_be_visible()
    button(page, "Save").click()
    expect(page.get_by_text("The server cannot be reached, so nothing was done")).to_be_visible()
    expect(name).to_have_value("Another name")
    context.set_offline(False)
    button(page, "Save").click()
    expect(page.get_by_role("heading", name="Another name", level=1)).to_be_visible()


def test_a_message_that_is_refused_without_a_socket_says_why_and_stays(
    server: MemoryWeb, chat: Chat, expected_complaints: list[str]
) -> None:
    expected_complaints.append("status of 404")
    agent = server.make_agent()
    page = chat(agent)
    page.route_web_socket(re.compile(r"/ws/\?"), lambda socket: socket.close())
    page.reload()
    composer(page).fill("Are you there?")
    server.post(f"/agents/{agent}/delete/")
    composer(page).press("Enter")
    expect(page.get_by_text("The server refused the message. Reload the page")).to_be_visible()
    expect(composer(page)).to_have_value("Are you there?")
