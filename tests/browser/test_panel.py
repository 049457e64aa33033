"""The panel's tabs in a real browser: by mouse, by keys, by address, and live."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.conftest import Chat, block, button, caught_up, converse, log, memory, seq_of
from tests.browser.panels import entries, entry, open_at, panel, panels_rest, queries, tab
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.server import MemoryWeb, dashed, eventually

pytestmark = pytest.mark.browser


APPEND = ("core_memory_append", {"label": "human", "content": "Likes cherry pie"})


def test_tabs_by_the_keyboard(chat: Chat, agent: str) -> None:
    page = chat(agent)
    expect(page.get_by_role("tab").first).to_have_accessible_name("Core memory")
    assert page.get_by_role("tab").all_inner_texts()[-2:] == ["Over time", "Tools"]
    expect(memory(page)).to_be_visible()
    tab(page, "Core memory").focus()
    page.keyboard.press("End")
    expect(tab(page, "Tools")).to_be_focused()
    expect(tab(page, "Tools")).to_have_attribute("aria-selected", "true")
    expect(panel(page, "Tools")).to_contain_text("core_memory_append")
    expect(memory(page)).to_be_hidden()
    assert queries(page) == "?panel=tools"
    page.keyboard.press("ArrowLeft")
    expect(panel(page, "Over time")).to_contain_text("No block has changed yet")
    page.keyboard.press("ArrowLeft")
    expect(panel(page)).to_contain_text("as it was created")
    page.keyboard.press("Home")
    expect(memory(page)).to_be_visible()
    assert queries(page) == ""
    page.keyboard.press("ArrowLeft")
    expect(tab(page, "Tools")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(tab(page, "Core memory")).to_be_focused()
    page.keyboard.press("Tab")  # one stop for all tabs
    expect(button(page, "Close the memory panel")).to_be_focused()


def test_an_open_tab_stays_open_over_a_reload(chat: Chat, agent: str, server: MemoryWeb) -> None:
    server.edit_block(agent, "Name: Sarah")
    page = chat(agent)
    tab(page, "History").click()
    panel(page).get_by_role("link", name="human").click()
    expect(entries(page)).to_have_count(1)
    expect(page).to_have_url(re.compile(r"\?panel=history&block="))
    page.reload()
    expect(tab(page, "History")).to_have_attribute("aria-selected", "true")
    chosen = panel(page).get_by_role("link", name="human")
    expect(chosen).to_have_attribute("aria-current", "true")
    expect(entries(page)).to_have_count(1)


def test_undo_redo_and_restore_show_at_once_in_every_open_page(
    chat: Chat, agent: str, server: MemoryWeb
) -> None:
    server.edit_block(agent, "Name: Sarah")
    server.edit_block(agent, "Name: Sarah\nLikes tea")
    page, other = chat(agent), chat(agent)
    for each in (page, other):
        tab(each, "History").click()
        expect(entries(each)).to_have_count(2)
    button(entry(page, 2), "Undo").click()
    for each in (page, other):
        expect(entry(each, 3)).to_contain_text("undoes version 2")
        expect(entry(each, 2)).to_contain_text("undone by version 3")
    assert server.block(agent)[1] == "Name: Sarah"
    button(entry(page, 2), "Redo").click()
    expect(entry(other, 4)).to_contain_text("redoes version 2")
    expect(entry(other, 2)).not_to_contain_text("taken back")
    button(entry(other, 0), "Restore").click()
    expect(entry(page, 5)).to_contain_text("restores version 0")
    expect(entry(page, 5)).to_contain_text("current")
    expect(entry(page, 4)).not_to_contain_text("current")
    assert server.block(agent)[1] == "Name: Bob"
    tab(page, "Core memory").click()
    expect(block(page).locator(".value")).to_contain_text("Bob")


def test_what_is_refused_is_said_where_it_was_asked(
    chat: Chat, agent: str, server: MemoryWeb, expected_complaints: list[str]
) -> None:
    expected_complaints.append("409")
    server.edit_block(agent, "Name: Bob, who likes very many things")
    server.edit_block(agent, "Name: Bob")
    block_id = dashed(server.block(agent)[0])
    path = f"/agents/{agent}/blocks/{block_id}/settings/"
    server.post(path, label="human", description="", limit=20)
    page = chat(agent)
    tab(page, "History").click()
    button(entry(page, 1), "Restore").click()
    refusal = entry(page, 1).get_by_role("alert")
    expect(refusal).to_contain_text("raise the limit in the block's settings")


def test_the_list_is_kept_as_it_is_while_it_grows(
    chat: Chat, agent: str, server: MemoryWeb
) -> None:
    """What is focused and what was scrolled to stay where they are."""
    for n in range(1, 41):
        server.edit_block(agent, f"Count: {n}")
    page = chat(agent)
    tab(page, "History").click()
    expect(entries(page)).to_have_count(30)
    entry(page, 12).scroll_into_view_if_needed()  # the end of the page has the next one loaded
    expect(entries(page)).to_have_count(40)
    entry(page, 5).scroll_into_view_if_needed()
    button(entry(page, 5), "Restore").focus()
    before = entry(page, 5).bounding_box()
    server.edit_block(agent, "Count: 41")
    expect(entries(page)).to_have_count(41)
    expect(button(entry(page, 5), "Restore")).to_be_focused()
    after = entry(page, 5).bounding_box()
    assert before
    assert after
    assert abs(before["y"] - after["y"]) < 2


def test_a_tab_out_of_sight_is_not_fetched_and_is_right_when_it_is_opened(
    chat: Chat, agent: str, server: MemoryWeb
) -> None:
    server.edit_block(agent, "Name: Sarah")
    page = chat(agent)
    tab(page, "History").click()
    expect(entries(page)).to_have_count(1)
    tab(page, "Core memory").click()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    server.edit_block(agent, "Name: Charles")
    expect(block(page).locator(".value")).to_contain_text("Charles")
    panels_rest(page)
    assert not [url for url in asked if "history" in url]
    tab(page, "History").click()
    expect(entry(page, 2)).to_contain_text("Charles")


def test_changes_of_core_memory_are_counted_while_another_tab_is_open(
    chat: Chat, agent: str, server: MemoryWeb
) -> None:
    page = chat(agent)
    tab(page, "Tools").click()
    server.edit_block(agent, "Name: Sarah")
    expect(tab(page, "Core memory")).to_have_accessible_name("Core memory 1 unseen")
    tab(page, "Core memory").click()
    expect(tab(page, "Core memory")).to_have_accessible_name("Core memory")


def test_a_renamed_block_is_renamed_in_the_open_history(
    chat: Chat, agent: str, server: MemoryWeb
) -> None:
    server.edit_block(agent, "Name: Sarah")
    page = chat(agent)
    tab(page, "History").click()
    expect(entry(page, 1)).to_be_visible()
    block_id = dashed(server.block(agent)[0])
    path = f"/agents/{agent}/blocks/{block_id}/settings/"
    server.post(path, label="person", description="", limit=2000)
    expect(entries(page)).to_contain_text("person version 1")


def test_from_a_tool_call_to_its_edit_and_back_to_its_step(
    chat: Chat, agent: str, server: MemoryWeb, model: FakeOpenAI
) -> None:
    converse(server, agent, model, "Message 1", calls(APPEND), text("Noted."))
    for n in range(45):
        server.edit_block(agent, f"Likes cherry pie\nCount: {n}")
    page = chat(agent)
    log(page).get_by_role("link", name="History").click()
    expect(tab(page, "History")).to_have_attribute("aria-selected", "true")
    expect(panel(page)).to_contain_text("These are older edits")
    expect(entry(page, 1)).to_be_focused()
    expect(entry(page, 1)).to_be_in_viewport()
    expect(entry(page, 1)).to_have_attribute("aria-current", "true")
    server.edit_block(agent, "Likes cherry pie")  # new ones do not belong in an old page
    caught_up(page, server, agent)
    panels_rest(page)
    expect(entry(page, 47)).to_have_count(0)
    entry(page, 1).get_by_role("link", name="step 1").click()
    expect(page).to_have_url(re.compile(r"#step-\d+$"))
    expect(page.locator(".step:target")).to_be_in_viewport()
    panel(page).get_by_role("link", name="Show the newest").click()
    expect(entry(page, 47)).to_be_visible()
    sql = "SELECT id FROM agents_blockedit WHERE block_id = ? AND version = 1"
    edit = server.one(sql, server.block(agent)[0])
    open_at(page, server, agent, f"panel=history&edit={edit}")
    expect(entry(page, 1)).to_be_in_viewport()


def test_blame_is_live_and_leads_to_the_edit(chat: Chat, agent: str, server: MemoryWeb) -> None:
    server.edit_block(agent, "Name: Bob\nLikes tea")
    page = chat(agent)
    button(block(page), "Who wrote this").click()
    lines = block(page).get_by_role("group", name="Who wrote each line of human")
    expect(lines).to_contain_text("since the block was created")
    expect(lines).to_contain_text("version 1")
    server.edit_block(agent, "Name: Sarah\nLikes tea")
    expect(lines).to_contain_text("version 2")
    expect(lines).to_contain_text("Name: Sarah")
    lines.get_by_role("link", name="version 1").click()
    expect(entry(page, 1)).to_be_focused()
    tab(page, "Core memory").click()
    button(lines, "Close").click()
    expect(lines).to_have_count(0)
    expect(block(page).locator(".value")).to_contain_text("Name: ")


def test_from_the_transcript_to_a_block_while_another_tab_is_open(
    chat: Chat, agent: str, server: MemoryWeb, model: FakeOpenAI, expected_complaints: list[str]
) -> None:
    expected_complaints.append("409")
    converse(server, agent, model, "Message 1", calls(APPEND), text("Noted."))
    server.edit_block(agent, "Name: Bob\nLikes cherry cake")
    page = chat(agent)
    tab(page, "Tools").click()
    log(page).get_by_role("link", name="Show in memory").click()
    expect(block(page)).to_be_focused()
    tab(page, "Tools").click()
    button(log(page), "Undo").click()
    expect(block(page).get_by_role("alert")).to_contain_text("cannot be undone by itself")


def test_a_step_long_ago_is_led_to(
    chat: Chat, agent: str, server: MemoryWeb, model: FakeOpenAI
) -> None:
    converse(server, agent, model, "Message 1", calls(APPEND), text("Noted."))
    for n in range(2, 25):
        converse(server, agent, model, f"Message {n}", text("Well.\n\n" * 12))
    page = chat(agent)
    expect(log(page)).not_to_contain_text("Noted.")
    tab(page, "History").click()
    with page.expect_navigation():
        entry(page, 1).get_by_role("link", name="step 1").click()
    caught_up(page, server, agent)
    step = page.locator(".step:target")
    expect(step).to_be_in_viewport()
    expect(step).to_contain_text("core_memory_append")
    expect(tab(page, "History")).to_have_attribute("aria-selected", "true")
    expect(log(page)).to_contain_text("Message 24")
    converse(server, agent, model, "Message 25", text("Still here."))
    expect(log(page)).to_contain_text("Still here.")
    expect(step).to_be_in_viewport()
    address = re.sub(r"#.*", "", page.url)
    page.goto("about:blank")
    page.goto(address)  # the step is named, without the place in the page
    expect(page.locator(".step:target")).to_be_in_viewport()


def test_a_tab_that_cannot_be_loaded_says_so_and_can_be_opened_again(
    chat: Chat, agent: str, expected_complaints: list[str]
) -> None:
    expected_complaints.append("500")
    page = chat(agent)
    page.route("**/panel/tools/", lambda route: route.fulfill(status=500, body="Oh"))
    tab(page, "Tools").click()
    expect(panel(page, "Tools").get_by_role("alert")).to_contain_text("could not be loaded")
    page.unroute("**/panel/tools/")
    tab(page, "Tools").click()
    expect(panel(page, "Tools")).to_contain_text("core_memory_append")


def test_the_tabs_in_the_drawer_of_a_phone(
    context: BrowserContext, server: MemoryWeb, agent: str
) -> None:
    server.edit_block(agent, "Name: Sarah")
    page = context.new_page()
    page.set_viewport_size({"width": 390, "height": 844})
    open_at(page, server, agent, "panel=history")
    expect(entry(page, 1)).to_be_in_viewport()
    wide = page.evaluate("() => document.querySelector('#inspector').scrollWidth")
    assert wide <= page.evaluate("() => document.querySelector('#inspector').clientWidth")
    button(page, "Close the memory panel").click()
    expect(entry(page, 1)).not_to_be_visible()
    seen = seq_of(page)
    server.edit_block(agent, "Name: Charles")
    eventually(lambda: seq_of(page) > seen)
    expect(page.locator("#unseen")).to_have_text("· 1 change")
    page.locator(".drawer-button").click()
    expect(entry(page, 2)).to_contain_text("Charles")


def test_the_compiled_memory_comes_when_it_is_opened_and_follows_the_edits(
    server: MemoryWeb, chat: Chat
) -> None:
    agent = server.make_agent(human="Name: Bob")
    page = chat(agent)
    compiled = page.locator("#compiled-box pre")
    expect(compiled).to_have_count(0)
    page.get_by_text("As the model will see it").click()
    expect(compiled).to_contain_text('<human characters="9/2000">')
    server.edit_block(agent, "Name: Charles")
    expect(compiled).to_contain_text("Name: Charles")
