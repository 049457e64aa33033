"""The Archival tab in a real browser: searched while one types, changed in place, and live."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.conftest import Chat, button, caught_up, converse
from tests.browser.panels import (
    archival,
    delete,
    edit,
    editor,
    open_at,
    passage,
    passages,
    put_away,
    tab,
    texts,
)
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.server import MemoryWeb

pytestmark = pytest.mark.browser


def test_what_the_agent_puts_away_shows_with_its_step_and_its_recalls(
    chat: Chat, agent: str, server: MemoryWeb, model: FakeOpenAI
) -> None:
    page = chat(agent)
    expect(tab(page, "Archival")).to_have_accessible_name("Archival")
    tab(page, "Archival").click()
    expect(archival(page)).to_contain_text("No passages yet")
    insert = ("archival_memory_insert", {"content": "Rex is a dog", "tags": ["pets"]})
    converse(server, agent, model, "Keep it", calls(insert), text("Kept."))
    expect(tab(page, "Archival")).to_have_accessible_name("Archival 1 passage")
    expect(passages(page)).to_have_count(1)
    rex = passage(page, "Rex is a dog")
    expect(rex).to_contain_text("by Tutor · step 1")
    expect(rex).to_contain_text("never recalled")
    expect(archival(page).get_by_role("checkbox", name="pets")).to_be_visible()
    look = ("archival_memory_search", {"query": "dog"})
    converse(server, agent, model, "Look", calls(look), text("A dog."))
    expect(rex).to_contain_text("recalled 1 time, last just now")
    rex.get_by_role("link", name="step 1").click()
    expect(page.locator(".step:target")).to_contain_text("archival_memory_insert")
    assert texts(page) == ["Rex is a dog"]


def test_adding_editing_and_deleting_by_the_keyboard(
    chat: Chat, agent: str, server: MemoryWeb, expected_complaints: list[str]
) -> None:
    expected_complaints.append("422")
    page, other = chat(agent), chat(agent)
    for each in (page, other):
        tab(each, "Archival").click()
    button(archival(page), "Add").press("Enter")
    box = editor(archival(page), "Text of the passage")
    expect(box).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.type("pets")
    box.press("Control+Enter")
    expect(archival(page).get_by_role("alert")).to_contain_text("The passage is empty")
    expect(editor(archival(page), "Tags")).to_have_value("pets")
    editor(archival(page), "Text of the passage").fill("Rex is a dog\n  and old")
    page.keyboard.press("Control+Enter")
    for each in (page, other):
        expect(passages(each)).to_have_count(1)
        expect(tab(each, "Archival")).to_have_accessible_name("Archival 1 passage")
    assert texts(page) == ["Rex is a dog\n  and old"]
    expect(editor(archival(page), "Text of the passage")).to_have_count(0)
    button(passage(page, "Rex"), "Edit").press("Enter")
    expect(editor(archival(page), "Text of the passage")).to_be_focused()
    page.keyboard.press("Escape")
    expect(passage(page, "Rex")).to_be_focused()
    button(passage(page, "Rex"), "Edit").press("Enter")
    editor(archival(page), "Text of the passage").fill("Rex is a wolf")
    page.keyboard.press("Control+Enter")
    for each in (page, other):
        expect(passage(each, "Rex is a wolf")).to_be_visible()
    button(passage(page, "Rex"), "Delete").press("Enter")
    expect(button(archival(page), "Keep it")).to_be_focused()
    page.keyboard.press("Enter")
    expect(passage(page, "Rex is a wolf")).to_be_focused()
    button(passage(page, "Rex"), "Delete").press("Enter")
    button(archival(page), "Delete it").press("Enter")
    for each in (page, other):
        expect(passages(each)).to_have_count(0)
        expect(archival(each)).to_contain_text("No passages yet")
        expect(tab(each, "Archival")).to_have_accessible_name("Archival")


def test_a_passage_that_changes_while_one_edits_it_is_shown_beside_it(
    chat: Chat, agent: str, server: MemoryWeb, expected_complaints: list[str]
) -> None:
    expected_complaints.append("409")
    put_away(server, agent, "Rex is a dog")
    page = chat(agent)
    tab(page, "Archival").click()
    button(passage(page, "Rex"), "Edit").click()
    box = editor(archival(page), "Text of the passage")
    box.fill("Rex is a cat")
    assert edit(server, agent, "Rex is a dog", "Rex is a wolf") == 200
    caught_up(page, server, agent)
    expect(box).to_have_value("Rex is a cat")
    button(archival(page), "Save").click()
    alert = archival(page).get_by_role("alert")
    expect(alert).to_contain_text("changed this passage while you were typing")
    expect(archival(page).get_by_role("group", name="The text now")).to_have_text("Rex is a wolf")
    expect(editor(archival(page), "Your text")).to_have_value("Rex is a cat")
    button(archival(page), "Use theirs").click()
    expect(passage(page, "Rex is a wolf")).to_be_visible()
    button(passage(page, "Rex"), "Edit").click()
    editor(archival(page), "Text of the passage").fill("Rex is a fox")
    delete(server, agent, "Rex is a wolf")
    expect(archival(page)).to_contain_text("This passage was deleted")
    expect(editor(archival(page), "Text of the passage")).to_have_value("Rex is a fox")
    button(archival(page), "Save").click()
    expect(archival(page).get_by_role("alert")).to_contain_text("deleted while you were typing")
    expect(editor(archival(page), "Your text")).to_have_value("Rex is a fox")
    button(archival(page), "Save as new").click()
    expect(page.locator(".kept:visible > .kept-text")).to_have_text(["Rex is a fox"])


def test_the_list_is_kept_as_it_is_while_it_grows(
    chat: Chat, agent: str, server: MemoryWeb
) -> None:
    for n in range(1, 36):
        put_away(server, agent, f"Note no. {n}.")
    page = chat(agent)
    tab(page, "Archival").click()
    expect(passages(page)).to_have_count(30)
    passage(page, "no. 6.").scroll_into_view_if_needed()
    expect(passages(page)).to_have_count(35)
    middle = passage(page, "no. 10.")
    middle.scroll_into_view_if_needed()
    button(middle, "Edit").focus()
    before = middle.bounding_box()
    put_away(server, agent, "Note no. 36.")
    delete(server, agent, "Note no. 3.")
    expect(passages(page)).to_have_count(35)
    expect(passage(page, "no. 36.")).to_be_attached()
    expect(button(middle, "Edit")).to_be_focused()
    after = middle.bounding_box()
    assert before
    assert after
    assert abs(before["y"] - after["y"]) < 2
    told = texts(page)
    page.reload()
    expect(passages(page)).to_have_count(30)
    assert texts(page) == told[:30]


def test_a_long_text_unfolds_and_folds(chat: Chat, agent: str, server: MemoryWeb) -> None:
    put_away(server, agent, "Long ago. " * 300 + "The end")
    page = chat(agent)
    tab(page, "Archival").click()
    summary = archival(page).get_by_text("All 3,007 characters")
    summary.press("Enter")
    expect(archival(page).locator(".part-text")).to_contain_text("The end")
    summary.press("Enter")
    expect(archival(page).locator(".part-text")).to_be_hidden()
    expect(archival(page).locator(".kept > .kept-text")).to_be_visible()


def test_a_tab_out_of_sight_catches_up_when_it_is_opened(
    chat: Chat, agent: str, server: MemoryWeb
) -> None:
    put_away(server, agent, "Rex is a dog")
    page = chat(agent)
    tab(page, "Archival").click()
    expect(passages(page)).to_have_count(1)
    tab(page, "Core memory").click()
    put_away(server, agent, "Tom is a cat")
    expect(tab(page, "Archival")).to_have_accessible_name("Archival 2 passages")
    tab(page, "Archival").click()
    expect(passages(page)).to_have_count(2)


def test_the_tab_in_the_drawer_of_a_phone(
    context: BrowserContext, server: MemoryWeb, agent: str
) -> None:
    put_away(server, agent, "Rex" * 200, "pets, " + "y" * 90)
    page = context.new_page()
    page.set_viewport_size({"width": 390, "height": 844})
    open_at(page, server, agent, "panel=archival")
    expect(passages(page)).to_have_count(1)
    button(passages(page), "Edit").click()
    expect(editor(archival(page), "Text of the passage")).to_be_visible()
    wide = page.evaluate("() => document.querySelector('#inspector').scrollWidth")
    assert wide <= page.evaluate("() => document.querySelector('#inspector').clientWidth")
