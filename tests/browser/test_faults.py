"""The server goes away under an open page, and comes back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Chat, button, composer, log, say
from tests.browser.test_reload_equals_socket import not_reloaded, same
from tests.support.fake_openai import FakeOpenAI, gated, text
from tests.support.server import MemoryWeb, eventually

pytestmark = pytest.mark.browser
RECONNECTING = "Reconnecting…"
RESTART = 60_000  # milliseconds


@pytest.fixture
def expected_complaints() -> list[str]:
    return ["WebSocket connection to .* failed", "ERR_CONNECTION_(REFUSED|RESET)", "htmx:ws:error"]


@pytest.fixture
def server(tmp_path: Path, fake_model: FakeOpenAI) -> Iterator[MemoryWeb]:
    """A server that may be killed."""
    with MemoryWeb(tmp_path / "data", fake_model) as started:
        yield started


def is_back(page: Page) -> None:
    expect(page.get_by_text(RECONNECTING)).to_be_hidden(timeout=RESTART)


def test_what_is_sent_while_the_server_is_away_is_sent_once_when_it_is_back(
    server: MemoryWeb, model: FakeOpenAI, chat: Chat
) -> None:
    agent = server.make_agent()
    page = chat(agent)
    with not_reloaded(page):
        server.kill()
        expect(page.get_by_text(RECONNECTING)).to_be_visible()
        composer(page).fill("Are you there?")
        button(page, "Send").click()
        expect(page.get_by_text("Your message is kept here")).to_be_visible()
        expect(composer(page)).to_have_value("Are you there?")
        model.script(text("Here I am."))
        server.start()
        is_back(page)
        expect(log(page)).to_contain_text("Here I am.", timeout=RESTART)
        expect(composer(page)).to_have_value("")
        expect(page.get_by_text("Your message is kept here")).to_have_count(0)
    eventually(lambda: server.runs(agent) == [("Are you there?", "done")])


def test_an_answer_cut_off_by_a_kill_goes_on_in_the_open_page(
    server: MemoryWeb, model: FakeOpenAI, chat: Chat
) -> None:
    agent = server.make_agent()
    page = chat(agent)
    gate = gated(text("Once upon a time there was a server."))
    model.script(gate, text("Once more: there was a server."))
    with not_reloaded(page):
        say(page, "Tell me a story")
        gate.release(2)
        expect(log(page).get_by_text("Once upon")).to_be_visible()
        eventually(lambda: server.one("SELECT count(*) FROM agents_event WHERE kind = 'text'"))
        server.kill()
        expect(page.get_by_text(RECONNECTING)).to_be_visible()
        server.start()
        is_back(page)
        expect(log(page)).to_contain_text("Once more: there was a server.", timeout=RESTART)
        expect(log(page)).to_contain_text("interrupted here")
        eventually(lambda: server.is_idle(agent))
        expect(page.get_by_role("status")).to_have_text("Ready")
        same(page, chat(agent))
