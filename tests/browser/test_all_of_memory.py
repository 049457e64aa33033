"""One long conversation with the demo model, through all of memory, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import begin_as, block, button, follow, log, make_agent, say, status
from tests.support.server import MemoryWeb

pytestmark = pytest.mark.browser

PUSH = '''\
def task_queue_push(agent_state, task_description: str):
    """Push to a task queue stored in core memory.

    Args:
        task_description (str): A description of the task.
    """
    import json

    print("Pushing", task_description)
    human = agent_state.memory.get_block("human")
    agent_state.memory.update_block_value("human", f"{human.value}\\nTask: {task_description}")
    return "Pushed."
'''


@pytest.fixture
def page(page: Page, tmp_path: Path) -> Iterator[Page]:
    """A browser at a server that nobody has used yet; the demo model answers."""
    with MemoryWeb(tmp_path / "data") as server:
        page.goto(server.url)
        yield page
        page.close()


def tab(page: Page, name: str) -> Locator:
    """Open a tab of the panel."""
    page.get_by_role("tab", name=name).click()
    return page.get_by_role("tabpanel", name=name)


def answered(page: Page, words: str) -> None:
    """Say something and wait until all is done."""
    ended = log(page).locator(".run-foot .ended")
    before = ended.count()
    say(page, words)
    expect(ended).to_have_count(before + 1)
    expect(status(page)).to_have_text("Ready")


def test_one_long_conversation_through_all_of_memory(page: Page) -> None:
    begin_as(page, "Assistant")
    make_agent(page, "Tutor")
    answered(page, "My name is Sarah and I like cherry pie.")
    archive(page)
    undo(page)
    make_room(page)
    recall(page)
    call_a_tool_of_ones_own(page)
    travel_and_fork(page)


def archive(page: Page) -> None:
    answered(page, "Remember for later that the spare key is under the mat.")
    expect(tab(page, "Archival")).to_contain_text("the spare key is under the mat")
    answered(page, "Where is the spare key?")
    expect(log(page)).to_contain_text("My archive says: “the spare key is under the mat”")
    expect(tab(page, "Archival")).to_contain_text("recalled")
    tab(page, "Core memory")


def undo(page: Page) -> None:
    answered(page, "I like apple cake.")
    expect(block(page)).to_contain_text("apple cake")
    button(block(page), "Undo").click()
    button(block(page), "Show last change").click()
    expect(block(page).locator("del")).to_be_visible()
    expect(block(page).locator("del")).to_contain_text("apple cake")
    history = tab(page, "History")
    expect(history).to_contain_text("undoes version")
    tab(page, "Core memory")


def make_room(page: Page) -> None:
    button(tab(page, "Context"), "Compact now").click()
    card = log(page).get_by_role("region", name="Compaction")
    expect(card).to_contain_text("Compacted")
    card.get_by_text("Removed from the context").click()
    expect(card).to_contain_text("My name is Sarah and I like cherry pie.")
    expect(tab(page, "Context")).to_contain_text("Summary")


def recall(page: Page) -> None:
    answered(page, "What did I say about cherry pie?")
    answer = log(page).get_by_role("article").last
    expect(answer).to_contain_text("My name is Sarah and I like cherry pie.")


def call_a_tool_of_ones_own(page: Page) -> None:
    address = page.url
    page.get_by_role("link", name="Tools", exact=True).first.click()
    page.get_by_role("link", name="New tool").click()
    page.get_by_role("textbox", name="Source").fill(PUSH)
    told = page.get_by_role("region", name="What the model sees")
    expect(told).to_contain_text("task_queue_push")
    button(page, "Save").click()
    expect(page.get_by_role("heading", name="task_queue_push", level=1)).to_be_visible()
    page.goto(address.partition("?")[0])
    tools = tab(page, "Tools")
    tools.get_by_label("Attach a tool").select_option("task_queue_push")
    button(tools, "Attach").click()
    expect(tools.get_by_role("listitem", name="task_queue_push", exact=True)).to_be_visible()
    tab(page, "Core memory")
    answered(page, "Add a task: water the garden.")
    expect(block(page)).to_contain_text("Task: water the garden")
    log(page).locator("summary", has_text="task_queue_push").last.click()
    expect(log(page).get_by_text("Pushing water the garden")).to_be_visible()


def travel_and_fork(page: Page) -> None:
    follow(page, page.get_by_role("link", name="Time travel", exact=True))
    slider = page.get_by_role("slider", name="Time travel")
    slider.fill("1")
    then = page.get_by_role("region", name="Core memory as it was")
    expect(page.get_by_role("status")).to_contain_text("after step 1 of")
    expect(then).to_contain_text("Likes cherry pie")
    expect(then).not_to_contain_text("water the garden")
    page.get_by_text("Fork from here").click()
    page.get_by_role("textbox", name="Name of the new agent").fill("Before it all")
    follow(page, button(page, "Create fork"))
    expect(page.get_by_role("heading", name="Before it all", level=1)).to_be_visible()
    expect(block(page)).to_contain_text("Likes cherry pie")
    expect(block(page)).not_to_contain_text("water the garden")
    answered(page, "What is my name?")
    expect(log(page)).to_contain_text("Your name is Sarah.")
