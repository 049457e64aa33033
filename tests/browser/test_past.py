"""The context's picture, the exact request, time travel and fork in a real browser."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import Chat, button, caught_up, composer, converse, follow, log, say
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.server import MemoryWeb

pytestmark = pytest.mark.browser


def append(content: str) -> tuple[str, dict[str, str]]:
    return "core_memory_append", {"label": "human", "content": content}


@pytest.fixture
def story(server: MemoryWeb, agent: str, model: FakeOpenAI) -> str:
    """Five steps: pie is noted in the first, cake in the third."""
    converse(server, agent, model, "I like pie", calls(append("Likes pie")), text("Pie, noted."))
    converse(server, agent, model, "And cake", calls(append("Likes cake")), text("Cake, too."))
    converse(server, agent, model, "Bye", text("See you."))
    return agent


def panel(page: Page) -> Locator:
    return page.get_by_role("tabpanel", name="Context")


def parts(page: Page) -> Locator:
    return panel(page).get_by_role("list", name="What is in the window").locator("details")


def open_context(chat: Chat, agent: str) -> Page:
    page = chat(agent)
    page.get_by_role("tab", name="Context").click()
    expect(panel(page)).to_contain_text("tokens")
    return page


def past(page: Page) -> Locator:
    return page.get_by_role("status")


def slider(page: Page) -> Locator:
    return page.get_by_role("slider", name="Time travel")


def then(page: Page) -> Locator:
    return page.get_by_role("region", name="Conversation as it was")


def memory_then(page: Page) -> Locator:
    return page.get_by_role("region", name="Core memory as it was")


def travel(page: Page, server: MemoryWeb, agent: str, number: int) -> None:
    page.goto(f"{server.url}/agents/{agent}/past/{number}/")
    expect(past(page)).to_contain_text(f"after step {number} of")


# -- the context window ----------------------------------------------------------------------------


def test_a_part_of_the_bar_shows_its_text(chat: Chat, story: str) -> None:
    page = open_context(chat, story)
    bar = panel(page).get_by_role("group", name="The context window, drawn to scale")
    bar.get_by_role("link", name=re.compile("^Block human, ")).click(position={"x": 1, "y": 15})
    human = parts(page).filter(has_text="Block human")
    expect(human.locator("pre")).to_contain_text("Likes cake")
    bar.get_by_role("link").first.focus()
    page.keyboard.press("End")
    expect(bar.get_by_role("link", name=re.compile("^Messages, "))).to_be_focused()
    page.keyboard.press("Enter")
    expect(parts(page).filter(has_text="Messages").locator("pre")).to_contain_text("See you.")
    page.keyboard.press("Enter")  # the part has the focus now
    expect(parts(page).filter(has_text="Messages").locator("pre")).to_be_hidden()


def test_the_picture_is_live_and_what_is_open_stays_open(
    chat: Chat, story: str, server: MemoryWeb, model: FakeOpenAI
) -> None:
    page = open_context(chat, story)
    human = parts(page).filter(has_text="Block human")
    human.locator("summary").click()
    expect(human.locator("pre")).to_contain_text("Likes cake")
    before = human.locator(".part-tokens").inner_text()
    server.edit_block(story, "Name: Bob\n" + "A long story. " * 60)
    expect(human.locator("pre")).to_contain_text("A long story.")
    expect(human.locator(".part-tokens")).not_to_have_text(before)
    bars = panel(page).get_by_role("group", name="Tokens sent in each step").get_by_role("link")
    expect(bars).to_have_count(5)
    converse(server, story, model, "One more", text("Here."))
    expect(bars).to_have_count(6)
    expect(human.locator("pre")).to_be_visible()


def test_a_bar_of_the_chart_leads_to_its_step(chat: Chat, story: str) -> None:
    page = open_context(chat, story)
    bars = panel(page).get_by_role("group", name="Tokens sent in each step").get_by_role("link")
    bars.last.focus()
    page.keyboard.press("Home")
    expect(bars.first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"panel=context.*#step-\d+$"))
    expect(page.locator(".step:target")).to_be_in_viewport()
    expect(page.locator(".step:target")).to_contain_text("Likes pie")
    expect(page.get_by_role("tab", name="Context")).to_have_attribute("aria-selected", "true")


def test_compact_now_makes_room_and_the_card_shows_what_left(
    chat: Chat, story: str, model: FakeOpenAI
) -> None:
    model.script(text("They spoke of pie and cake."))
    page = open_context(chat, story)
    button(panel(page), "Compact now").click()
    card = log(page).get_by_role("region", name="Compaction")
    expect(card).to_contain_text("Compacted")
    expect(parts(page).filter(has_text="Summary").first).to_be_visible()
    card.get_by_text("Removed from the context").click()
    expect(card).to_contain_text("I like pie")
    card.get_by_text("Summary", exact=True).click()
    button(card, "Edit summary").click()
    card.get_by_role("textbox", name="Summary").fill("Pie and cake.")
    button(card, "Save").click()
    expect(card.locator(".compaction-summary")).to_contain_text("Pie and cake.")


def test_reflect_now_starts_a_reflection(chat: Chat, story: str, model: FakeOpenAI) -> None:
    model.script(text("Nothing had to be changed."))
    page = open_context(chat, story)
    button(panel(page), "Reflect now").click()
    expect(log(page)).to_contain_text("Reflection: the agent reviews its memory")
    expect(log(page)).to_contain_text("Nothing had to be changed.")


# -- the exact request -----------------------------------------------------------------------------


def test_from_a_step_to_its_exact_request_and_back(
    chat: Chat, story: str, model: FakeOpenAI
) -> None:
    page = chat(story)
    log(page).get_by_role("link", name="request").first.click()
    expect(page.get_by_role("heading", name="The request of step 1")).to_be_visible()
    expect(page.locator("main")).to_contain_text("Verified: this is what was sent, byte for byte.")
    system = page.get_by_role("region", name="System message")
    expect(system.locator(".added")).to_contain_text(["Likes pie"])
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the body").click()
    assert download.value.path().read_bytes() in model.raw_bodies
    page.get_by_role("link", name="Back to the step").click()
    expect(page.locator(".step:target")).to_contain_text("core_memory_append")


# -- time travel -----------------------------------------------------------------------------------


def test_the_slider_leads_through_the_past_and_escape_back_to_now(
    chat: Chat, story: str, server: MemoryWeb
) -> None:
    page = chat(story)
    follow(page, page.get_by_role("link", name="Time travel", exact=True))
    expect(past(page)).to_contain_text("The past: after step 5 of 5")
    expect(composer(page)).to_have_count(0)
    expect(slider(page)).to_be_focused()
    page.keyboard.press("Home")
    expect(past(page)).to_contain_text("after step 1 of 5")
    expect(page).to_have_url(re.compile("/past/1/$"))
    expect(then(page)).to_contain_text("I like pie")
    expect(then(page)).not_to_contain_text("Pie, noted.")
    expect(memory_then(page).locator("ins")).to_have_text(re.compile("Likes pie"))
    page.keyboard.press("ArrowRight")
    expect(then(page)).to_contain_text("Pie, noted.")
    expect(memory_then(page)).not_to_contain_text("changed in this step")
    button(page, "Next step").click()
    expect(memory_then(page)).to_contain_text("Likes cake")
    expect(slider(page)).to_have_value("3")
    page.reload()
    expect(past(page)).to_contain_text("after step 3 of 5")
    page.keyboard.press("Escape")
    caught_up(page, server, story)
    expect(composer(page)).to_be_visible()
    expect(log(page)).to_contain_text("See you.")


def test_the_right_end_of_the_slider_is_now(story: str, server: MemoryWeb, page: Page) -> None:
    travel(page, server, story, 5)
    slider(page).focus()
    page.keyboard.press("ArrowRight")
    expect(composer(page)).to_be_visible()
    expect(page).to_have_url(re.compile(f"/agents/{story}/$"))


def test_what_happens_meanwhile_leaves_the_past_alone(
    story: str, server: MemoryWeb, model: FakeOpenAI, page: Page
) -> None:
    heard: list[Any] = []
    page.on("websocket", lambda socket: heard.append(socket))
    travel(page, server, story, 2)
    page.on("request", lambda request: heard.append(request))
    before = page.locator(".in-the-past").inner_html()
    converse(server, story, model, "Meanwhile", calls(append("Was away")), text("Still here."))
    assert page.locator(".in-the-past").inner_html() == before
    assert not heard, "nothing tells it, and it does not ask"
    follow(page, page.get_by_role("link", name="Back to now"))
    caught_up(page, server, story)
    expect(log(page)).to_contain_text("Still here.")
    expect(page.get_by_role("region", name="Core memory")).to_contain_text("Was away")
    model.script(text("And again."))
    say(page, "Once more")
    expect(log(page)).to_contain_text("And again.")


def test_a_step_leads_to_the_agent_as_it_was_then(chat: Chat, story: str) -> None:
    page = chat(story)
    log(page).get_by_role("link", name="time travel").nth(1).click()
    expect(past(page)).to_contain_text("after step 2 of 5")
    expect(then(page).locator(".step.at")).to_contain_text("Pie, noted.")
    expect(then(page).locator(".step.at")).to_be_in_viewport()


def test_the_pasts_context_shows_its_texts(story: str, server: MemoryWeb, page: Page) -> None:
    travel(page, server, story, 3)
    context = page.get_by_role("region", name="Context window")
    context.get_by_text("Messages", exact=True).click()
    expect(context.locator("pre")).to_contain_text("And cake")
    expect(context.locator("pre")).not_to_contain_text("Cake, too.")
    button(page, "Previous step").click()
    expect(past(page)).to_contain_text("after step 2 of 5")
    expect(context.locator("pre")).to_contain_text("I like pie")  # it stays open
    expect(context.locator("pre")).not_to_contain_text("And cake")


def test_a_fork_is_made_where_one_stands(story: str, server: MemoryWeb, page: Page) -> None:
    travel(page, server, story, 1)
    slider(page).focus()
    page.keyboard.press("ArrowRight")
    expect(past(page)).to_contain_text("after step 2 of 5")
    page.get_by_text("Fork from here").click()
    name = page.get_by_role("textbox", name="Name of the new agent")
    expect(name).to_have_value("Tutor, forked at step 2")
    name.focus()
    page.keyboard.press("Escape")  # closes the form, and stays
    expect(name).to_be_hidden()
    page.keyboard.press("Enter")
    name.fill("Another way")
    name.press("Enter")
    expect(page.get_by_role("heading", name="Another way", level=1)).to_be_visible()
    expect(log(page)).to_contain_text("Pie, noted.")
    expect(log(page)).not_to_contain_text("And cake")
    human = page.get_by_role("region", name="Core memory").get_by_role("group", name="human")
    expect(human).to_contain_text("Likes pie")
    expect(human).not_to_contain_text("Likes cake")


def test_the_past_on_a_phone(context: BrowserContext, story: str, server: MemoryWeb) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": 390, "height": 844})
    travel(page, server, story, 3)
    expect(slider(page)).to_be_in_viewport()
    wide = page.evaluate("() => document.documentElement.scrollWidth")
    assert wide <= 390
    page.locator(".drawer-button").click()
    expect(memory_then(page)).to_be_in_viewport()
    page.keyboard.press("Escape")  # closes the drawer, and stays
    expect(memory_then(page)).not_to_be_visible()
    expect(past(page)).to_contain_text("after step 3 of 5")
    page.keyboard.press("Escape")
    expect(composer(page)).to_be_visible()
