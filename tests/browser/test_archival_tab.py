"""The Archival tab in a real browser: searched while one types, changed in place, and live."""

from __future__ import annotations

import re
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import Chat, button, caught_up
from tests.browser.test_panel import converse, open_at, panel, queries, tab
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.server import MemoryWeb, eventually

pytestmark = pytest.mark.browser


@pytest.fixture
def agent(server: MemoryWeb) -> str:
    return server.make_agent("Tutor", human="Name: Bob")


def put_away(server: MemoryWeb, agent: str, said: str, tags: str = "") -> None:
    assert server.post(f"/agents/{agent}/archival/add/", text=said, tags=tags).status == 200


def key_of(server: MemoryWeb, said: str) -> int:
    pk: int = server.one("SELECT max(id) FROM agents_passage WHERE text = ?", said)
    return pk


def edit(server: MemoryWeb, agent: str, said: str, now: str, tags: str = "") -> int:
    """Change a passage by hand, as another page would; the status."""
    pk = key_of(server, said)
    when = server.one("SELECT updated_at FROM agents_passage WHERE id = ?", pk)
    version = when.replace(" ", "T") + "+00:00"
    path = f"/agents/{agent}/archival/{pk}/"
    return server.post(path, text=now, tags=tags, version=version).status


def delete(server: MemoryWeb, agent: str, said: str) -> None:
    pk = key_of(server, said)
    when = server.one("SELECT updated_at FROM agents_passage WHERE id = ?", pk)
    path = f"/agents/{agent}/archival/{pk}/delete/"
    assert server.post(path, version=when.replace(" ", "T") + "+00:00").status == 200


def archival(page: Page) -> Locator:
    return panel(page, "Archival")


def passages(page: Page) -> Locator:
    """Those that are to be seen."""
    return archival(page).locator(".kept:visible")


def passage(page: Page, said: str) -> Locator:
    return passages(page).filter(has_text=said)


def texts(page: Page) -> list[str]:
    return page.locator(".kept:visible .kept-text").all_inner_texts()


def search_box(page: Page) -> Locator:
    return archival(page).get_by_role("searchbox")


def searched(page: Page) -> str:
    """What the address says is searched for."""
    return parse_qs(queries(page)[1:]).get("q", [""])[0]


def editor(scope: Page | Locator, name: str) -> Locator:
    return scope.get_by_role("textbox", name=name)


def test_what_the_agent_puts_away_shows_with_its_step_and_its_recalls(
    chat: Chat, agent: str, server: MemoryWeb, model: FakeOpenAI
) -> None:
    page = chat(agent)
    expect(tab(page, "Archival")).to_have_accessible_name("Archival")
    tab(page, "Archival").click()
    expect(archival(page)).to_contain_text("Nothing is put away yet")
    insert = ("archival_memory_insert", {"content": "Rex is a dog", "tags": ["pets"]})
    converse(server, agent, model, "1", calls(insert), text("Kept."))
    expect(tab(page, "Archival")).to_have_accessible_name("Archival 1 passage")
    expect(passages(page)).to_have_count(1)
    rex = passage(page, "Rex is a dog")
    expect(rex).to_contain_text("by Tutor, step 1")
    expect(rex).to_contain_text("never recalled")
    expect(archival(page).get_by_role("checkbox", name="pets")).to_be_visible()
    look = ("archival_memory_search", {"query": "dog"})
    converse(server, agent, model, "2", calls(look), text("A dog."))
    expect(rex).to_contain_text("recalled 1 time, last just now")
    rex.get_by_role("link", name="step 1").click()
    expect(page.locator(".step:target")).to_contain_text("archival_memory_insert")
    assert texts(page) == ["Rex is a dog"]


def test_searching_while_one_types(chat: Chat, agent: str, server: MemoryWeb) -> None:
    for said, tags in (("Rex is a dog", "pets"), ("Tom is a cat", "pets, cats"), ("Tea", "")):
        put_away(server, agent, said, tags)
    page = chat(agent)
    tab(page, "Archival").click()
    expect(passages(page)).to_have_count(3)
    search_box(page).press_sequentially("cat ", delay=20)
    expect(passages(page)).to_have_count(1)
    expect(passage(page, "Tom")).to_be_visible()
    expect(page).to_have_url(re.compile(r"\?panel=archival&q=cat"))
    for typed in ('"', "*", "AND", "'", "cat AND (", "\\ NEAR"):
        search_box(page).fill(typed)
        eventually(lambda typed=typed: searched(page) == typed)  # type: ignore[misc]
    search_box(page).fill("zebra")
    expect(page).to_have_url(re.compile("q=zebra"))
    expect(archival(page)).to_contain_text("Nothing is found")
    page.reload()
    expect(archival(page)).to_contain_text("Nothing is found")
    expect(search_box(page)).to_have_value("zebra")
    search_box(page).fill("")
    expect(passages(page)).to_have_count(3)
    assert queries(page) == "?panel=archival"


def test_tags_narrow_the_list_by_the_keyboard(chat: Chat, agent: str, server: MemoryWeb) -> None:
    for said, tags in (("Rex", "pets, dogs"), ("Tom", "pets, cats"), ("Tea", "drinks")):
        put_away(server, agent, said, tags)
    page = chat(agent)
    tab(page, "Archival").click()
    pets = archival(page).get_by_role("checkbox", name="pets")
    pets.focus()
    page.keyboard.press("Space")
    expect(passages(page)).to_have_count(2)
    expect(pets).to_be_focused()
    expect(pets).to_be_checked()
    cats = archival(page).get_by_role("checkbox", name="cats")
    cats.focus()
    page.keyboard.press("Space")
    both = archival(page).get_by_role("checkbox", name="with all of these")
    both.focus()
    page.keyboard.press("Space")
    expect(passages(page)).to_have_count(1)
    expect(page).to_have_url(re.compile("tags=pets%2C\\+cats&all=1"))
    put_away(server, agent, "Ann", "pets, cats")  # what fits is taken in
    put_away(server, agent, "Bob", "pets")
    expect(passages(page)).to_have_count(2)
    expect(cats).to_be_checked()
    page.reload()
    expect(passages(page)).to_have_count(2)
    expect(pets).to_be_checked()
    passage(page, "Tom").get_by_role("link", name="cats").click()
    expect(pets).not_to_be_checked()
    expect(cats).to_be_checked()
    expect(page).to_have_url(re.compile(r"\?panel=archival&tags=cats$"))
    expect(passages(page)).to_have_count(2)


def test_adding_editing_and_deleting_by_the_keyboard(
    chat: Chat, agent: str, server: MemoryWeb, expected_complaints: list[str]
) -> None:
    expected_complaints.append("422")
    page, other = chat(agent), chat(agent)
    for each in (page, other):
        tab(each, "Archival").click()
    button(archival(page), "Add").press("Enter")
    box = editor(archival(page), "Text to put away")
    expect(box).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.type("pets")
    box.press("Control+Enter")
    expect(archival(page).get_by_role("alert")).to_contain_text("The passage is empty")
    expect(editor(archival(page), "Tags")).to_have_value("pets")
    editor(archival(page), "Text to put away").fill("Rex is a dog\n  and old")
    page.keyboard.press("Control+Enter")
    for each in (page, other):
        expect(passages(each)).to_have_count(1)
        expect(tab(each, "Archival")).to_have_accessible_name("Archival 1 passage")
    assert texts(page) == ["Rex is a dog\n  and old"]
    expect(editor(archival(page), "Text to put away")).to_have_count(0)
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
        expect(archival(each)).to_contain_text("Nothing is put away yet")
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
    expect(archival(page).get_by_role("group", name="As it reads now")).to_have_text(
        "Rex is a wolf"
    )
    expect(editor(archival(page), "As you typed it")).to_have_value("Rex is a cat")
    button(archival(page), "Take theirs").click()
    expect(passage(page, "Rex is a wolf")).to_be_visible()
    button(passage(page, "Rex"), "Edit").click()
    editor(archival(page), "Text of the passage").fill("Rex is a fox")
    delete(server, agent, "Rex is a wolf")
    expect(archival(page)).to_contain_text("This passage was deleted")
    expect(editor(archival(page), "Text of the passage")).to_have_value("Rex is a fox")
    button(archival(page), "Save").click()
    expect(archival(page).get_by_role("alert")).to_contain_text("deleted while you were typing")
    expect(editor(archival(page), "As you typed it")).to_have_value("Rex is a fox")
    button(archival(page), "Put away as new").click()
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


def test_results_stay_under_the_reader_and_can_be_searched_again(
    chat: Chat, agent: str, server: MemoryWeb
) -> None:
    put_away(server, agent, "Rex is a dog")
    page = chat(agent)
    tab(page, "Archival").click()
    search_box(page).fill("dog")
    expect(page).to_have_url(re.compile("q=dog"))
    put_away(server, agent, "Rolf is a dog")
    expect(archival(page)).to_contain_text("Archival memory has changed since")
    expect(passages(page)).to_have_count(1)
    button(archival(page), "Search again").click()
    expect(passages(page)).to_have_count(2)
    expect(archival(page)).not_to_contain_text("has changed since")


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


def test_how_far_the_vectors_are_goes_on_by_itself(
    context: BrowserContext, model: FakeOpenAI, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = tmp_path_factory.mktemp("embedding")
    with MemoryWeb(data, model, MEMORYWEB_EMBEDDING_MODEL="fake-embedding") as server:
        agent = server.make_agent("Tutor")
        put_away(server, agent, "Bob owns a hound")
        page = context.new_page()
        open_at(page, server, agent, "panel=archival")
        expect(archival(page)).to_contain_text("all 1 texts embedded with fake-embedding")
        search_box(page).fill("puppy")
        expect(passages(page)).to_have_count(1)
        put_away(server, agent, "Tom is a cat")
        expect(archival(page)).to_contain_text("all 2 texts embedded with fake-embedding")
        eventually(lambda: server.one("SELECT count(*) FROM agents_passagevector") == 2)
