"""Tools in a real browser: written, tried, attached, called; rules; the editor's keys."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Route, expect

from tests.browser.conftest import Chat, block, button, log, say
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.server import MemoryWeb

pytestmark = pytest.mark.browser

COUNT = '''\
def count_words(agent_state, words: str, twice: bool = False):
    """Count words, and note how many there were.

    Args:
        words (str): What to count in.
        twice (bool): Whether to count twice.
    """
    number = len(words.split()) * (2 if twice else 1)
    print("There are", number)
    human = agent_state.memory.get_block("human")
    agent_state.memory.update_block_value("human", f"{human.value}\\nWords: {number}")
    return number
'''


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


def source(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Source")


def try_form(page: Page) -> Locator:
    return page.get_by_role("form", name="Try it")


def description(page: Page) -> Locator:
    return page.get_by_role("region", name="What the model sees")


def cards(page: Page) -> Locator:
    return page.get_by_role("tabpanel", name="Tools").get_by_role("list", name="Tools")


def card(page: Page, name: str) -> Locator:
    return page.get_by_role("tabpanel", name="Tools").get_by_role("listitem", name=name, exact=True)


def gone(server: MemoryWeb, page: Page, name: str) -> None:
    """Delete a tool by its page, so that the next test may make one of that name."""
    page.goto(f"{server.url}/tools/")
    page.get_by_role("link", name=f"Delete {name}").click()
    button(page, f"Delete {name}").click()
    expect(page.get_by_role("heading", name="Tools")).to_be_visible()
    expect(page.get_by_role("link", name=name, exact=True)).to_have_count(0)


def test_source_typed_before_the_scripts_are_there_is_read(
    page: Page, chat: Chat, agent: str, server: MemoryWeb
) -> None:
    def type_first(route: Route) -> None:
        source(page).fill(COUNT)
        route.continue_()

    page.route("**/tool_editor*.js", type_first)
    page.goto(f"{server.url}/tools/new/")
    expect(description(page)).to_contain_text("Count words, and note how many there were.")


def test_a_tool_is_written_tried_attached_and_called(
    page: Page, chat: Chat, agent: str, server: MemoryWeb, model: FakeOpenAI
) -> None:
    page.goto(f"{server.url}/agents/{agent}/")
    page.get_by_role("link", name="Tools", exact=True).first.click()
    page.get_by_role("link", name="New tool").click()
    source(page).fill(COUNT)
    expect(description(page)).to_contain_text("Count words, and note how many there were.")

    try_form(page).get_by_label("words").fill("one two three")
    try_form(page).get_by_label("twice").select_option("True")
    try_form(page).get_by_label("On the memory of").select_option(value=agent)
    button(try_form(page), "Try it").click()
    trial = page.locator("#trial")
    expect(trial).to_contain_text("nothing was changed")
    expect(trial).to_contain_text("There are 6")
    change = trial.get_by_role("group", name="What would change in block human")
    expect(change).to_contain_text("Words: 6")
    assert server.block(agent)[1] == "Name: Bob"
    expect(try_form(page).get_by_label("words")).to_have_value("one two three")

    button(page, "Save").click()
    expect(page.get_by_role("heading", name="count_words", level=1)).to_be_visible()

    other = chat(agent)
    other.get_by_role("tab", name="Tools").click()
    other.get_by_label("Attach a tool").select_option("count_words")
    button(other, "Attach").click()
    expect(card(other, "count_words")).to_contain_text("custom")
    expect(card(other, "count_words")).to_contain_text("not called")

    model.script(calls(("count_words", {"words": "a b c d"})), text("There are four."))
    say(other, "How many words?")
    expect(log(other)).to_contain_text("There are four.")
    call = log(other).locator(".tool", has_text="count_words")
    call.locator("summary").first.click()
    expect(call).to_contain_text("Printed")
    expect(call).to_contain_text("There are 4")
    expect(card(other, "count_words")).to_contain_text("called 1 time")
    other.get_by_role("tab", name="Core memory").click()
    expect(block(other).locator(".value")).to_contain_text("Words: 4")
    gone(server, page, "count_words")
    other.get_by_role("tab", name="Tools").click()
    expect(card(other, "count_words")).to_have_count(0)


def test_a_wrong_source_says_where_while_it_is_typed(page: Page, server: MemoryWeb) -> None:
    count = COUNT.replace("def count_words", "def count_them")  # no other test keeps one so named
    page.goto(f"{server.url}/tools/new/")
    source(page).fill(count.replace("words: str", "words: strng"))
    said = page.locator("#source-error")
    expect(said).to_contain_text("strng is not supported")
    expect(page.locator(".gutter .bad")).to_have_text("1")
    expect(description(page)).to_contain_text("Nothing yet, because the source cannot be read.")
    source(page).fill(count)
    expect(page.locator(".gutter .bad")).to_have_count(0)
    expect(said.locator(".refusal")).to_have_count(0)
    expect(page.locator(".gutter span")).to_have_count(count.count("\n") + 1)


def test_a_failing_try_marks_its_line_and_what_was_typed_stays(
    page: Page, server: MemoryWeb, agent: str, expected_complaints: list[str]
) -> None:
    expected_complaints.append("422")
    page.goto(f"{server.url}/tools/new/")
    source(page).fill(COUNT.replace("    print", "    1 / 0\n    print"))
    expect(description(page)).to_contain_text("count_words")
    button(try_form(page), "Try it").click()
    expect(page.locator("#trial")).to_contain_text("ZeroDivisionError")
    expect(page.locator(".gutter .bad")).to_have_text("9")
    page.get_by_label("Seconds").fill("50")
    button(page, "Save").click()
    expect(page.get_by_text("Give more than 0 and at most 5 s.")).to_be_visible()
    expect(page.get_by_label("Seconds")).to_have_value("50")
    expect(source(page)).to_have_value(re.compile(r"1 / 0"))


def test_tab_indents_and_escape_lets_one_out(page: Page, server: MemoryWeb) -> None:
    page.goto(f"{server.url}/tools/new/")
    area = source(page)
    area.fill("")
    area.press_sequentially("def f():")
    area.press("Enter")  # keeps the indent, and opens one after a colon
    area.press_sequentially("x")
    expect(area).to_have_value("def f():\n    x")
    area.press("Home")
    area.press("Tab")
    expect(area).to_have_value("def f():\n        x")
    area.press("Shift+Tab")
    expect(area).to_have_value("def f():\n    x")
    area.press("Control+a")
    area.press("Tab")
    expect(area).to_have_value("    def f():\n        x")
    area.press("Shift+Tab")
    expect(area).to_have_value("def f():\n    x")
    area.press("Escape")
    area.press("Tab")
    expect(area).not_to_be_focused()
    expect(area).to_have_value("def f():\n    x")


def test_rules_are_set_in_the_tab_and_show_in_every_open_page(
    chat: Chat, agent: str, server: MemoryWeb
) -> None:
    page, other = chat(agent), chat(agent)
    for each in (page, other):
        each.get_by_role("tab", name="Tools").click()
    append = card(page, "core_memory_append")
    button(append, "Rules").click()
    form = append.get_by_role("form", name="Rules for core_memory_append")
    form.get_by_label("Needs approval").check()
    form.get_by_label("Most calls in a run").fill("2")
    following = form.get_by_role("group", name="Must be followed by one of")
    following.get_by_label("core_memory_replace").check()
    button(form, "Save").click()
    for each in (page, other):
        rules = card(each, "core_memory_append").get_by_role("list", name="Rules")
        expect(rules).to_contain_text("needs approval")
        expect(rules).to_contain_text("at most 2 times a run")
        expect(rules).to_contain_text("must be followed by core_memory_replace")
    expect(form).to_have_count(0)
    page.once("dialog", lambda dialog: dialog.accept())
    button(append, "Detach core_memory_append").click()
    for each in (page, other):
        expect(card(each, "core_memory_append")).to_have_count(0)
    page.get_by_label("Attach a tool").select_option("core_memory_append")
    button(page, "Attach").click()
    expect(card(other, "core_memory_append").get_by_role("list", name="Rules")).to_have_count(0)


def test_rules_that_are_being_edited_stay_while_the_tab_is_drawn_anew(
    chat: Chat, agent: str, server: MemoryWeb
) -> None:
    page, other = chat(agent), chat(agent)
    for each in (page, other):
        each.get_by_role("tab", name="Tools").click()
    append = card(page, "core_memory_append")
    button(append, "Rules").click()
    append.get_by_label("Most calls in a run").fill("7")
    other.get_by_label("Attach a tool").select_option("send_message")
    button(other, "Attach").click()
    expect(card(page, "send_message")).to_be_visible()
    expect(append.get_by_label("Most calls in a run")).to_have_value("7")
