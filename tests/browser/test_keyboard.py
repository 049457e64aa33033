"""The main job by keyboard alone, with a focus that one sees wherever it stands."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import RENAME, block, button, composer, log, status
from tests.browser.stage import APPEND
from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.server import MemoryWeb, dashed

pytestmark = pytest.mark.browser
MOST = 150  # presses of a key until something has the focus
# How the element that has the focus looks, it and what is drawn around it.
WATCH = """() => {
  const looks = (element) => {
    const around = [element, element.parentElement, element.parentElement?.parentElement];
    const styles = around.filter(Boolean)
      .flatMap((each) => [getComputedStyle(each), getComputedStyle(each, "::after")]);
    const told = ({ outline, boxShadow, borderColor, backgroundColor, clipPath }) =>
      [outline, boxShadow, borderColor, backgroundColor, clipPath];
    return styles.flatMap(told).join();
  };
  window.unmarked = [];
  let before = null, marked = "";
  document.addEventListener("keyup", () => {
    const now = document.activeElement;
    if (before?.isConnected && before !== now && looks(before) === marked)
      unmarked.push(before.outerHTML.slice(0, 160));
    before = now === document.body ? null : now;
    marked = before ? looks(before) : "";
  });
}"""


def watch(page: Page) -> None:
    """From now on, notes each stop of the focus that is not to be seen."""
    page.evaluate(WATCH)


def all_were_seen(page: Page) -> None:
    unmarked = page.evaluate("() => window.unmarked")
    assert not unmarked, "\n".join(unmarked)


def to(page: Page, target: Locator, key: str = "Tab") -> None:
    """Press a key until something has the focus."""
    expect(target).to_be_attached()
    for _ in range(MOST):
        if target.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press(key)
    raise AssertionError(f"{key} does not lead to {target}")


def press(page: Page, target: Locator, key: str = "Enter") -> None:
    to(page, target)
    page.keyboard.press(key)


def ask_before_writes(server: MemoryWeb, agent: str) -> None:
    of, _, _ = server.block(agent)
    form: dict[str, str | int] = {"label": "human", "limit": 2000, "kind": "text"}
    path = f"/agents/{agent}/blocks/{dashed(of)}/settings/"
    server.post(path, **form | {"ask_before_write": "on"})


def test_the_main_job_by_keyboard_alone(
    context: BrowserContext, server: MemoryWeb, model: FakeOpenAI
) -> None:
    page = context.new_page()
    page.goto(f"{server.url}/agents/new/")
    watch(page)
    to(page, page.get_by_role("textbox", name="Name", exact=True))
    page.keyboard.press("Control+a")
    page.keyboard.type("Grace")
    all_were_seen(page)
    with page.expect_navigation():
        press(page, button(page, "Create agent"))
    agent = page.url.rstrip("/").split("/")[-1]
    watch(page)

    # talk, and open what the agent did
    server.edit_block(agent, "Name: Bob")
    model.script(calls(RENAME), text("Noted."))
    to(page, composer(page))
    page.keyboard.type("My name is Sarah.")
    page.keyboard.press("Enter")
    expect(log(page)).to_contain_text("Noted.")
    expect(status(page)).to_have_text("Ready")
    press(page, log(page).locator(".tool summary").first)
    expect(log(page).get_by_text("Arguments").first).to_be_visible()
    press(page, log(page).locator(".run-steps summary").first)

    # approve a change
    ask_before_writes(server, agent)
    model.script(calls(APPEND), text("Noted, too."))
    to(page, composer(page))
    page.keyboard.type("I like cherry pie.")
    page.keyboard.press("Enter")
    expect(block(page).get_by_role("form")).to_be_visible()
    press(page, button(block(page), "Approve"))
    expect(log(page)).to_contain_text("Noted, too.")
    expect(block(page)).to_contain_text("cherry pie")

    # correct memory
    press(page, button(block(page), "Edit"))
    value = page.get_by_role("textbox", name="Value of human")
    to(page, value)
    page.keyboard.press("Control+a")
    page.keyboard.type("Name: Sally")
    press(page, button(block(page), "Save"))
    expect(block(page)).to_contain_text("Sally")

    # a message's own menu
    press(page, button(page, "Edit this message and send it again").first)
    expect(page.locator(".message-ask textarea")).to_be_focused()
    all_were_seen(page)

    # another conversation and back, in the list of agents, which is one stop
    with page.expect_navigation():
        to(page, page.locator("#agents [tabindex='0']"))
        to(
            page,
            page.locator("#agents").get_by_role("button", name="New conversation"),
            "ArrowDown",
        )
        page.keyboard.press("Enter")
    expect(log(page)).not_to_contain_text("Noted.")

    # search
    page.keyboard.press("Control+k")
    page.keyboard.type("cherry")
    options = page.get_by_role("dialog", name="Search").get_by_role("option")
    expect(options.first).to_contain_text("cherry")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(log(page)).to_contain_text("cherry pie")
