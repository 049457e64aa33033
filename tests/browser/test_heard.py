"""What a screen reader makes of a chat: who speaks, that the agent works, what memory became."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import RENAME, Chat, log, say, status
from tests.support.fake_openai import FakeOpenAI, calls, gated, text
from tests.support.server import MemoryWeb

pytestmark = pytest.mark.browser


def test_who_speaks_that_it_works_and_what_changed_are_heard(
    server: MemoryWeb, model: FakeOpenAI, chat: Chat
) -> None:
    page = chat(server.make_agent("Tutor", human="Name: Bob"))
    heard = page.locator("#heard")
    expect(heard).to_have_attribute("aria-live", "polite")
    gate = gated(text("Nice to **meet** you, Sarah.", chunk=4))
    model.script(calls(RENAME), gate)
    say(page, "My name is Sarah.")
    gate.release(3)
    expect(status(page)).to_contain_text("Writing")
    expect(log(page)).to_contain_text("Nice to")
    expect(heard).to_have_text("Memory changed: human, added Sarah; removed Bob")  # no token of it
    gate.open()
    expect(status(page)).to_have_text("Ready")
    expect(heard.locator("p").last).to_have_text("Tutor: Nice to meet you, Sarah.")
    expect(log(page)).to_match_aria_snapshot("""
      - log "Conversation":
        - article "You"
        - article "Tutor"
    """)
    expect(log(page).get_by_role("article", name="You")).to_contain_text("My name is Sarah.")
    page.reload()
    expect(log(page).get_by_role("article", name="Tutor")).to_have_count(1)
    expect(heard).to_be_empty()  # what is there already is not said again
