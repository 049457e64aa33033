"""A temporary chat in a real browser: no memory, in another tab too, gone when closed."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Chat, button, composer, log, memory, say
from tests.support.fake_openai import FakeOpenAI, text

pytestmark = pytest.mark.browser


def test_it_is_talked_to_found_in_another_tab_and_gone_when_closed(
    agent: str, model: FakeOpenAI, chat: Chat
) -> None:
    page, other = chat(agent), chat(agent)
    button(page, "Temporary chat").click()
    note = page.get_by_role("note").filter(has_text="Temporary chat.")
    expect(note).to_contain_text("nothing of this chat is kept")
    expect(memory(page)).to_be_hidden()
    model.script(text("Who are you?"))
    say(page, "The heron nests at noon")
    expect(log(page)).to_contain_text("Who are you?")
    assert "Bob" not in str(model.requests[-1])
    page.reload()
    expect(log(page)).to_contain_text("Who are you?")
    expect(other.get_by_role("navigation")).not_to_contain_text("heron")
    other.get_by_role("link", name="Temporary chat").click()
    expect(log(other)).to_contain_text("The heron nests at noon")
    composer(page).fill("Half a thought")
    button(note, "Close").click()
    page.wait_for_url(f"**/agents/{agent}/")
    expect(page.get_by_role("link", name="Temporary chat")).to_have_count(0)
    expect(other.get_by_role("main")).to_contain_text("This temporary chat was closed")
    assert "Half a thought" not in page.evaluate("JSON.stringify(sessionStorage)")
