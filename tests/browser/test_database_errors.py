"""Another program holds the database for longer than the server waits, under an open page."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Chat, block, button, composer, log
from tests.support.fake_openai import FakeOpenAI, text
from tests.support.server import MemoryWeb, eventually

pytestmark = pytest.mark.browser
LOCKED = "The database is locked"


@pytest.fixture
def expected_complaints() -> list[str]:
    return ["status of 503"]


@pytest.fixture
def server(tmp_path: Path, fake_model: FakeOpenAI) -> Iterator[MemoryWeb]:
    with MemoryWeb(tmp_path / "data", fake_model, MEMORYWEB_DATABASE_WAIT="0.2") as started:
        yield started


def test_what_was_typed_stays_and_can_be_sent_again(
    server: MemoryWeb, model: FakeOpenAI, chat: Chat
) -> None:
    agent = server.make_agent(human="Name: Bob")
    page = chat(agent)
    human = block(page)
    button(human, "Edit").click()
    human.get_by_role("textbox").fill("Name: Sarah")
    path = server.data / "memoryweb.sqlite3"
    with closing(sqlite3.connect(path, isolation_level=None, timeout=20)) as other:
        other.execute("BEGIN IMMEDIATE")
        composer(page).fill("Are you there?")
        button(page, "Send").click()
        expect(page.get_by_text(LOCKED)).to_have_count(1)
        expect(composer(page)).to_have_value("Are you there?")
        button(human, "Save").click()
        expect(human.get_by_text(LOCKED)).to_be_visible()
        expect(human.get_by_role("textbox")).to_have_value("Name: Sarah")
    button(human, "Save").click()
    expect(human.get_by_role("textbox")).to_have_count(0)
    eventually(lambda: server.block(agent)[1] == "Name: Sarah")
    model.script(text("Here I am."))
    button(page, "Send").click()
    expect(log(page)).to_contain_text("Here I am.")
    expect(composer(page)).to_have_value("")
    eventually(lambda: server.runs(agent) == [("Are you there?", "done")])
