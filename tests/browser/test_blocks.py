"""Blocks in a real browser: attached, detached, typed; repeats; the first of a new agent."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import Chat, block, button, caught_up, log, memory
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.server import MemoryWeb, dashed, eventually

pytestmark = pytest.mark.browser


@pytest.fixture
def expected_complaints(request: pytest.FixtureRequest) -> list[str]:
    """A browser tells of each answer that refuses."""
    return ["status of (409|422)"] if "refus" in request.node.name else []


def page_of(context: BrowserContext, server: MemoryWeb, path: str) -> Page:
    page = context.new_page()
    page.goto(server.url + path)
    return page


def rows_named(page: Page, label: str) -> Locator:
    return page.locator(".block-list > .block").filter(
        has=page.get_by_role("heading", name=label, exact=True)
    )


def make_block(page: Page, server: MemoryWeb, label: str, value: str, kind: str = "text") -> str:
    """Make a block by the form, from the sidebar on; its id."""
    page.get_by_role("link", name="Blocks", exact=True).click()
    page.get_by_role("link", name="New block").click()
    page.get_by_role("textbox", name="Label").fill(label)
    page.get_by_role("textbox", name="Value").fill(value)
    page.get_by_role("combobox", name="Kind").select_option(kind)
    button(page, "Create block").click()
    expect(page.get_by_role("heading", name=label, level=1)).to_be_visible()
    found = re.search(r"/blocks/([0-9a-f-]{36})/$", page.url)
    assert found
    return found[1]


def attach(page: Page, label: str) -> None:
    button(memory(page), "Attach a block").click()
    memory(page).get_by_role("radio", name=re.compile(rf"^{label}\b")).check()
    button(memory(page), "Attach").click()
    expect(block(page, label)).to_be_visible()


def test_one_block_in_two_agents_is_edited_in_one_and_seen_in_the_other(
    chat: Chat, context: BrowserContext, server: MemoryWeb, agent: str
) -> None:
    other = server.make_agent("Planner")
    first, second = chat(agent), chat(other)
    label = f"team{agent[:4]}"
    made = page_of(context, server, "/blocks/")
    made_id = make_block(made, server, label, "Ten people")
    attach(first, label)
    expect(block(first, label)).not_to_contain_text("shared with")
    attach(second, label)
    expect(block(first, label).get_by_role("link", name="shared with 1 agent")).to_be_visible()
    button(block(second, label), "Edit").click()
    block(second, label).get_by_role("textbox").fill("Eleven people")
    button(block(second, label), "Save").click()
    expect(block(first, label)).to_contain_text("Eleven people")

    block(first, label).get_by_role("link", name="shared with 1 agent").click()
    expect(first.get_by_role("heading", name=label, level=1)).to_be_visible()
    assert made_id in first.url
    expect(first.get_by_text("Attached to Planner · Tutor")).to_be_visible()

    second.on("dialog", lambda dialog: dialog.accept())
    button(block(second, label), "Settings").click()
    button(block(second, label), "Detach").click()
    expect(block(second, label)).to_be_hidden()
    expect(memory(second)).to_be_visible()
    first.get_by_role("link", name="Blocks", exact=True).first.click()
    expect(rows_named(first, label)).to_contain_text("Attached to Tutor")


def test_a_block_is_edited_on_its_page_and_a_change_meanwhile_is_merged_not_refused(
    chat: Chat, context: BrowserContext, server: MemoryWeb, agent: str
) -> None:
    block_id, _, _ = server.block(agent)
    page = page_of(context, server, f"/blocks/{dashed(block_id)}/")
    button(page, "Edit").click()
    area = page.get_by_role("textbox", name="Value of human")
    area.fill("Name: Bob\nLikes pie")
    expect(page.get_by_text("19 / 2,000")).to_be_visible()
    server.edit_block(agent, "Is called: Robert\nName: Bob")
    button(page, "Save").click()
    expect(page.get_by_role("alert").filter(has_text="changed this block")).to_be_visible()
    expect(page.get_by_role("textbox")).to_have_value("Is called: Robert\nName: Bob\nLikes pie")
    button(page, "Save merged").click()
    expect(page.get_by_role("textbox")).to_have_count(0)
    expect(page.locator(".value")).to_contain_text("Likes pie")
    _, value, version = server.block(agent)
    assert (value, version) == ("Is called: Robert\nName: Bob\nLikes pie", 2)


def test_a_typed_block_refuses_what_is_no_list_and_keeps_what_was_typed(
    chat: Chat, context: BrowserContext, server: MemoryWeb, agent: str
) -> None:
    label = f"list{agent[:4]}"
    make_block(page_of(context, server, "/blocks/"), server, label, '["one"]', "list")
    page = chat(agent)
    attach(page, label)
    expect(block(page, label)).to_contain_text("JSON list")
    button(block(page, label), "Edit").click()
    area = block(page, label).get_by_role("textbox")
    area.fill('["one"]\n2. two')
    button(block(page, label), "Save").click()
    refusal = block(page, label).get_by_role("alert").filter(has_text="no longer be JSON")
    expect(refusal).to_be_visible()
    expect(area).to_have_value('["one"]\n2. two')
    area.fill('["one", "two"]')
    button(block(page, label), "Save").click()
    expect(block(page, label).locator(".value")).to_contain_text('"two"')
    expect(block(page, label).get_by_role("textbox")).to_have_count(0)


def test_a_schema_is_asked_for_where_there_can_be_one(
    chat: Chat, server: MemoryWeb, agent: str
) -> None:
    page = chat(agent)
    button(block(page), "Settings").click()
    schema = block(page).get_by_role("textbox", name="Schema")
    expect(block(page).get_by_role("combobox", name="Kind")).to_have_value("text")
    expect(schema).to_be_hidden()
    block(page).get_by_role("combobox", name="Kind").select_option("object")
    expect(schema).to_be_visible()


def test_a_line_that_repeats_is_marked_as_it_comes(
    chat: Chat, server: MemoryWeb, agent: str, model: FakeOpenAI
) -> None:
    append = ("core_memory_append", {"label": "human", "content": "- name: bob"})
    model.script(calls(append), text("Noted."))
    page = chat(agent)
    page.get_by_role("textbox", name="Message", exact=True).fill("My name is Bob")
    page.keyboard.press("Enter")
    expect(log(page)).to_contain_text("Noted.")
    mark = block(page).locator(".repeat")
    expect(mark).to_have_attribute("title", "says the same as line 1")
    expect(mark).to_contain_text("(says the same as line 1)")
    eventually(lambda: server.is_idle(agent))
    live = block(page).locator(".value").inner_html()
    page.reload()
    caught_up(page, server, agent)
    assert block(page).locator(".value").inner_html() == live


def labels(page: Page) -> list[str]:
    return [field.input_value() for field in page.locator("[name$='-label']").all()]


def test_another_template_changes_the_first_blocks_but_not_what_was_typed(
    context: BrowserContext, server: MemoryWeb
) -> None:
    page = page_of(context, server, "/agents/new/")
    assert labels(page) == ["persona", "human"]
    second = page.get_by_role("group", name="Block 2")
    human = second.get_by_role("textbox", name="Value")
    expect(human).to_be_hidden()
    page.get_by_text("Advanced").click()
    page.get_by_role("group", name="Block 1").locator("summary").click()
    second.locator("summary").click()  # which closes the first
    expect(page.get_by_role("textbox", name="Value")).to_have_count(1)
    human.fill("Name: Bob")
    page.get_by_role("textbox", name="Name", exact=True).fill("Worker")
    page.get_by_role("radio", name="Task clearer").check()
    expect(page.get_by_role("group", name="Block 3")).to_be_visible()
    assert labels(page) == ["persona", "human", "tasks"]
    expect(human).to_have_value("Name: Bob")
    page.get_by_role("radio", name="Own blocks").check()
    expect(page.get_by_role("group", name="Block 3")).to_have_count(0)
    assert labels(page) == ["human"]  # typed in, so it stays
    page.get_by_role("radio", name="Task clearer").check()
    expect(page.get_by_role("group", name="Block 3")).to_be_visible()
    assert labels(page) == ["persona", "human", "tasks"]
    expect(human).to_have_value("Name: Bob")
    button(page, "Create agent").click()
    expect(page.get_by_role("heading", name="Worker", level=1)).to_be_visible()
    expect(block(page, "tasks")).to_contain_text("JSON list")
    expect(block(page, "tasks").locator(".value")).to_have_text("[]")
    expect(block(page)).to_contain_text("Name: Bob")


def test_tool_rules_are_added_and_left_out_by_the_keyboard(
    context: BrowserContext, server: MemoryWeb, agent: str
) -> None:
    page = page_of(context, server, f"/agents/{agent}/settings/")
    row = page.get_by_role("group", name=re.compile("^Tool rule"))
    expect(row).to_have_count(1)
    row.get_by_role("combobox", name="Tool", exact=True).select_option("core_memory_append")
    expect(row.get_by_role("spinbutton")).to_be_hidden()
    row.get_by_role("combobox", name="Rule").select_option("has a maximum number of calls in a run")
    row.get_by_role("spinbutton", name="Maximum number of calls").fill("2")
    button(page, "Add a rule").focus()
    page.keyboard.press("Enter")
    expect(row).to_have_count(2)
    expect(row.nth(1).get_by_role("combobox", name="Tool", exact=True)).to_be_focused()
    row.nth(1).get_by_role("combobox", name="Tool", exact=True).select_option("core_memory_append")
    button(row.nth(1), "Remove this rule").click()
    expect(row).to_have_count(1)
    button(page, "Save").click()
    expect(page.get_by_role("heading", name="Tutor", level=1)).to_be_visible()
    page.goto(f"{server.url}/agents/{agent}/settings/")
    expect(row).to_have_count(2)  # the one, and an empty one
    expect(row.first.get_by_role("spinbutton")).to_have_value("2")
