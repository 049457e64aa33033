"""The main job in a real browser: chat with an agent, watch its memory change, correct it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import (
    Chat,
    block,
    button,
    change_by_the_agent,
    log,
    memory,
    say,
    status,
)
from tests.support.fake_openai import FakeOpenAI
from tests.support.server import MemoryWeb, eventually

pytestmark = pytest.mark.browser

KNOWN = "Name: Bob\nLives in Riga\nLikes tea"


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """Two addresses of a server that nobody has used yet; the demo model answers.

    With Postgres and Redis named, they are of two processes, and a worker executes the runs.
    """
    with ExitStack() as stack:
        if os.environ.get("DATABASE_URL"):
            from tests.support.site import own_site

            site = stack.enter_context(own_site(tmp_path))
            site.worker()
            yield site.web[0].url, site.web[1].url
        else:
            server = stack.enter_context(MemoryWeb(tmp_path / "data"))
            yield server.url, server.url


@pytest.mark.hosted
def test_from_nothing_to_a_changed_memory(context: BrowserContext, fresh: tuple[str, str]) -> None:
    here, there = fresh
    page = context.new_page()
    page.goto(here)
    first = page.get_by_label("Say something to your first agent")
    expect(first).to_be_focused()
    first.fill("My name is Sarah and I like cherry pie.")
    first.press("Enter")
    expect(page.get_by_role("heading", name="Juno", level=1)).to_be_visible()
    expect(page.get_by_role("note")).to_contain_text("OPENAI_API_KEY")
    expect(block(page)).to_contain_text("Sarah")
    expect(block(page)).to_contain_text("cherry pie")
    changes = log(page).get_by_role("group", name="Change of block human")
    expect(changes).to_have_count(2)
    expect(changes.first).to_contain_text("Name: Sarah")
    expect(log(page).get_by_text("core_memory_append").first).to_be_visible()
    changes.first.get_by_role("link", name="Show in memory").click()
    expect(block(page)).to_be_focused()
    expect(status(page)).to_have_text("Ready")

    say(page, "What is my name?")
    expect(log(page)).to_contain_text("Your name is Sarah.")
    page.reload()
    expect(log(page)).to_contain_text("My name is Sarah and I like cherry pie.")
    expect(log(page)).to_contain_text("Your name is Sarah.")
    expect(changes).to_have_count(2)
    expect(block(page)).to_contain_text("cherry pie")

    other = context.new_page()
    other.goto(page.url.replace(here, there))
    say(page, "Actually, my name is Charles.")
    for tab in (page, other):
        expect(block(tab)).to_contain_text("Charles")
        expect(log(tab)).to_contain_text("Actually, my name is Charles.")

    say(page, "Tell me a long story.")
    expect(log(other)).to_contain_text("There was once a woman")
    button(other, "Stop").click()
    for tab in (page, other):
        expect(log(tab)).to_contain_text("stopped here")
        expect(status(tab)).to_have_text("Ready")
        expect(button(tab, "Stop")).to_be_hidden()


# -- memory, by hand -----------------------------------------------------------------------------


def edit(page: Page, value: str) -> None:
    """Open the editor of the human block and type; nothing is saved yet."""
    button(block(page), "Edit").click()
    page.get_by_role("textbox", name="Value of human").fill(value)


def test_a_block_edited_by_hand_changes_in_every_tab_and_is_undone(
    server: MemoryWeb, chat: Chat
) -> None:
    agent = server.make_agent(human=KNOWN)
    page, other = chat(agent), chat(agent)
    edit(page, KNOWN.replace("Riga", "Oslo"))
    button(block(page), "Save").click()
    for tab in (page, other):
        expect(block(tab).get_by_role("insertion")).to_have_text("Oslo")
        expect(block(tab).get_by_role("deletion")).to_have_text("Riga")
        expect(memory(tab)).to_contain_text("Oslo")
    expect(page.get_by_role("textbox", name="Value of human")).to_have_count(0)
    button(block(other), "Undo").click()
    eventually(lambda: server.block(agent)[1:] == (KNOWN, 2))
    for tab in (page, other):
        expect(block(tab).get_by_role("insertion")).to_have_text("Riga")


def test_what_is_too_long_for_a_block_is_refused_and_kept(
    server: MemoryWeb, chat: Chat, expected_complaints: list[str]
) -> None:
    expected_complaints.append("422")
    page = chat(server.make_agent(human=KNOWN))
    edit(page, "x" * 2040)
    expect(block(page)).to_contain_text("2,040 / 2,000")
    button(block(page), "Save").click()
    refused = block(page).get_by_role("alert").filter(has_text="shorten it by 40")
    expect(refused).to_be_visible()
    expect(page.get_by_role("textbox", name="Value of human")).to_have_value("x" * 2040)


MINE = KNOWN.replace("tea", "coffee")


@pytest.mark.parametrize(
    ("choice", "saved"),
    [
        ("Save merged", "Name: Sarah\nLives in Riga\nLikes coffee"),
        ("Use mine", MINE),
        ("Use theirs", "Name: Sarah\nLives in Riga\nLikes tea"),
    ],
)
def test_a_block_that_changes_under_ones_typing_asks_what_to_keep(
    choice: str,
    saved: str,
    server: MemoryWeb,
    model: FakeOpenAI,
    chat: Chat,
    expected_complaints: list[str],
) -> None:
    expected_complaints.append("409")
    agent = server.make_agent(human=KNOWN)
    page = chat(agent)
    edit(page, MINE)
    change_by_the_agent(server, model, agent)
    expect(block(page).get_by_role("alert")).to_contain_text("changed while you were typing")
    expect(page.get_by_role("textbox", name="Value of human")).to_have_value(MINE)
    button(block(page), "Save").click()
    theirs = block(page).get_by_role("group", name="Their change")
    expect(theirs.get_by_role("insertion")).to_have_text("Sarah")
    expect(page.get_by_role("textbox", name="Both changes together")).to_have_value(
        "Name: Sarah\nLives in Riga\nLikes coffee"
    )
    button(block(page), choice).click()
    if choice == "Use mine":
        button(block(page), "Save merged").click()
    expect(theirs).to_have_count(0)
    eventually(lambda: server.block(agent)[1] == saved)


def test_typing_in_the_panel_outlives_a_change_of_the_panel(server: MemoryWeb, chat: Chat) -> None:
    agent = server.make_agent(human=KNOWN)
    page = chat(agent)
    edit(page, MINE)
    server.post(f"/agents/{agent}/blocks/new/", label="plans", value="None yet", limit=100)
    expect(block(page, "plans")).to_be_visible()
    expect(page.get_by_role("textbox", name="Value of human")).to_have_value(MINE)


def test_a_block_is_added_configured_and_removed(server: MemoryWeb, chat: Chat) -> None:
    agent = server.make_agent(human=KNOWN)
    page = chat(agent)
    button(memory(page), "Add a block").click()
    memory(page).get_by_role("textbox", name="Label").fill("plans")
    button(memory(page), "Add").click()
    expect(block(page, "plans")).to_be_visible()
    button(block(page, "plans"), "Settings").click()
    block(page, "plans").get_by_role("checkbox", name="Read only").check()
    button(block(page, "plans"), "Save").click()
    expect(block(page, "plans")).to_contain_text("read-only")
    button(block(page, "plans"), "Settings").click()
    page.once("dialog", lambda dialog: dialog.accept())
    button(block(page, "plans"), "Detach").click()
    expect(block(page, "plans")).to_have_count(0)
