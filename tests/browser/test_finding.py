"""Finding by keyboard: the palette over everything, the bar in a chat, the list of shortcuts."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Chat, composer, converse, follow, log
from tests.support.fake_openai import FakeOpenAI, text
from tests.support.server import MemoryWeb, eventually

pytestmark = pytest.mark.browser

MARKS = """name => [...(CSS.highlights.get(name) ?? [])].map(range => range.toString())"""


def marks(page: Page, name: str = "found") -> list[str]:
    """The words that are marked."""
    found: list[str] = page.evaluate(MARKS, name)
    return found


def test_a_hit_of_the_palette_leads_to_its_place_with_the_words_marked(
    server: MemoryWeb, model: FakeOpenAI, chat: Chat, agent: str
) -> None:
    converse(server, agent, model, "Where does my sister live?", text("Your sister lives in Riga."))
    page = chat(server.make_agent("Second"))
    composer(page).fill("?")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="Search")
    expect(palette.get_by_role("option").first).to_contain_text("Second")
    page.keyboard.type("tut")
    expect(palette.get_by_role("option").first).to_contain_text("Tutor")
    page.keyboard.press("Escape")
    expect(palette).to_be_hidden()
    expect(composer(page)).to_be_focused()
    page.keyboard.press("Control+k")
    page.keyboard.type("sister")  # what was typed before is selected
    options = palette.get_by_role("group", name="Messages").get_by_role("option")
    expect(options).to_have_count(2)
    expect(options.first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    eventually(lambda: marks(page) == ["sister", "sister"])
    assert marks(page, "found-here") == ["sister"]
    expect(page.get_by_role("searchbox", name="Find in all")).to_have_value("sister")
    expect(page.locator("#find-count")).to_have_text("1 of 2")
    page.keyboard.press("Escape")
    expect(composer(page)).to_be_focused()
    assert marks(page) == []
    page.locator("#scroller").focus()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Shortcuts")).to_contain_text("Search everything")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_bar_goes_through_all_that_was_said_also_what_is_not_loaded(
    server: MemoryWeb, model: FakeOpenAI, chat: Chat, agent: str
) -> None:
    converse(server, agent, model, "Riga is the first", text("Yes."))
    for number in range(21):
        converse(server, agent, model, f"Message {number}", text("Yes."))
    converse(server, agent, model, "riga is the last", text("Yes."))
    page = chat(agent)
    expect(log(page)).not_to_contain_text("Riga is the first")
    page.keyboard.press("Control+f")
    page.keyboard.type("riga")
    count = page.locator("#find-count")
    expect(count).to_have_text("1 of 2")
    assert marks(page) == marks(page, "found-here") == ["riga"]
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(count).to_have_text("2 of 2")
    expect(log(page).get_by_text("Riga is the first")).to_be_in_viewport()
    page.keyboard.press("Shift+Enter")
    expect(count).to_have_text("1 of 2")
    expect(log(page).get_by_text("riga is the last")).to_be_in_viewport()
    page.get_by_role("searchbox", name="Find in all").fill("nowhere")
    expect(count).to_have_text("Nothing found")


def test_what_is_found_of_memory_is_shown_in_its_place(
    server: MemoryWeb, chat: Chat, agent: str
) -> None:
    server.post(f"/agents/{agent}/archival/add/", text="Rex is a dog", tags="")
    page = chat(agent)
    page.keyboard.press("Control+k")
    page.keyboard.type("rex")
    options = page.get_by_role("dialog", name="Search").get_by_role("option")
    here = page.locator(f"[href*='{agent}']")  # other tests' agents know of the dog, too
    follow(page, options.and_(here).filter(has_text="Rex is a dog"))
    eventually(lambda: marks(page) == ["Rex"])
    expect(page.get_by_role("listitem").filter(has_text="Rex is a dog")).to_be_focused()
    page.keyboard.press("Control+k")
    page.keyboard.type("bob")
    follow(page, options.filter(has_text="Name: Bob").first)
    expect(page.get_by_role("heading", name="human", level=1)).to_be_visible()
    assert "Bob" in marks(page)
