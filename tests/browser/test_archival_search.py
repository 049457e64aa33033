"""Searching the Archival tab in a real browser, while one types and while memory changes."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import APIResponse, BrowserContext, Route, expect

from tests.browser.conftest import Chat, button, caught_up
from tests.browser.panels import (
    archival,
    open_at,
    panels_rest,
    passage,
    passages,
    put_away,
    queries,
    search_box,
    searched,
    tab,
)
from tests.support.fake_openai import FakeOpenAI
from tests.support.server import MemoryWeb, eventually

pytestmark = pytest.mark.browser


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
    expect(archival(page)).to_contain_text("Nothing found")
    page.reload()
    expect(archival(page)).to_contain_text("Nothing found")
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
    both = archival(page).get_by_role("checkbox", name="with all of these tags")
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


def test_a_tag_that_is_ticked_while_a_search_is_under_way_stays_ticked(
    chat: Chat, agent: str, server: MemoryWeb
) -> None:
    put_away(server, agent, "Rex", "pets, dogs")
    put_away(server, agent, "Tom", "pets, cats")
    page = chat(agent)
    tab(page, "Archival").click()
    cats = archival(page).get_by_role("checkbox", name="cats")

    def tick_first(route: Route) -> None:
        response = route.fetch()
        cats.check()
        route.fulfill(response=response)

    page.route(re.compile(r"/archival/\?.*tag=dogs$"), tick_first)
    archival(page).get_by_role("checkbox", name="dogs").check()
    expect(page).to_have_url(re.compile("tags=(dogs%2C\\+cats|cats%2C\\+dogs)"))
    expect(cats).to_be_checked()
    expect(passages(page)).to_have_count(2)


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


def test_what_is_put_away_during_a_search_is_not_missed(
    chat: Chat, agent: str, server: MemoryWeb
) -> None:
    """The answer to the search was written before, and comes after."""
    put_away(server, agent, "Rex is a dog")
    page = chat(agent)
    tab(page, "Archival").click()
    expect(passages(page)).to_have_count(1)
    answers: list[tuple[Route, APIResponse]] = []
    page.route(re.compile(r"/archival/\?q=dog"), lambda r: answers.append((r, r.fetch())))
    search_box(page).fill("dog")
    eventually(lambda: page.evaluate("() => 1") and answers)
    put_away(server, agent, "Rolf is a dog")
    caught_up(page, server, agent)
    panels_rest(page)
    ((route, response),) = answers
    route.fulfill(response=response)
    expect(page).to_have_url(re.compile("q=dog"))
    expect(archival(page)).to_contain_text("Archival memory has changed since")
    expect(archival(page)).to_contain_text("2 passages")


def test_how_far_the_vectors_are_goes_on_by_itself(
    context: BrowserContext, model: FakeOpenAI, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = tmp_path_factory.mktemp("embedding")
    with MemoryWeb(data, model, MEMORYWEB_EMBEDDING_MODEL="fake-embedding") as server:
        agent = server.make_agent("Tutor")
        put_away(server, agent, "Bob owns a hound")
        page = context.new_page()
        open_at(page, server, agent, "panel=archival")
        expect(archival(page)).to_contain_text("search: 1 text embedded with fake-embedding")
        search_box(page).fill("puppy")
        expect(page).to_have_url(re.compile("q=puppy"))
        expect(passages(page)).to_have_count(1)
        put_away(server, agent, "Tom is a cat")
        expect(archival(page)).to_contain_text("all 2 texts embedded with fake-embedding")
        eventually(lambda: server.one("SELECT count(*) FROM agents_passagevector") == 2)
