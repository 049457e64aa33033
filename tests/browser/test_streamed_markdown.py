"""Markdown while it streams: finished blocks are drawn, and nothing moves at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Chat, log, status
from tests.browser.stage import Stage
from tests.support.fake_openai import FakeOpenAI, gated, text
from tests.support.server import MemoryWeb

pytestmark = pytest.mark.browser

PARTS = [
    "Here is **what** I found:\n\n",
    "- one\n- two\n  - three\n\n",
    "| Name | Time |\n| :--- | ---: |\n| merge | 6.5 |\n\n",
    "```python\ndef f(x):\n    return x  # " + "long " * 40 + "\n```\n\n",
    "The sum is $x_1 + x_2$.\n\n",
    "That is *all*",
]
BLOCKS = "#log .run:last-child .markdown > *"
PLACES = """(blocks) => [...document.querySelectorAll(blocks)].map((element) => {
  const { top, height } = element.getBoundingClientRect();
  return [element.nodeName === "DIV" ? element.className : element.nodeName, top, height];
})"""


def held(model: FakeOpenAI) -> Callable[[], None]:
    """The model's answer comes but for its last words; opens it."""
    answer = "".join(PARTS)
    gate = gated(text(f"{answer} for now.", chunk=len(answer)))
    model.script(gate)
    gate.release(1)
    return gate.open


def test_finished_blocks_are_drawn_and_do_not_move_when_the_answer_ends(
    server: MemoryWeb, model: FakeOpenAI, chat: Chat
) -> None:
    stage = Stage(server, model, server.make_agent("Tutor", human="Name: Bob"))
    page = chat(stage.agent)
    go_on = held(model)
    stage.send("Tell me")
    draft = page.locator(".message.draft .markdown")
    expect(draft.locator("math")).to_be_visible()
    expect(draft.locator(".rest")).to_have_text("That is *all*")
    fresh = chat(stage.agent)
    expect(fresh.locator(".message.draft .rest")).to_have_text("That is *all*")
    assert places(fresh) == places(page)
    before = places(page)
    assert [name for name, _, _ in before] == ["P", "UL", "wide", "code", "P", "rest"]
    go_on()
    expect(log(page)).to_contain_text("That is all for now.")
    expect(status(page)).to_have_text("Ready")
    for (name, top, height), (was, top_before, height_before) in zip(
        places(page), before, strict=True
    ):
        assert (name, height) == ("P" if was == "rest" else was, height_before)
        assert top - places(page)[0][1] == top_before - before[0][1]


def places(page: Page) -> list[tuple[str, float, float]]:
    found: list[Any] = page.evaluate(PLACES, BLOCKS)
    return [(name, top, height) for name, top, height in found]


def test_code_is_copied_and_what_is_wide_takes_the_keyboard(
    server: MemoryWeb, model: FakeOpenAI, chat: Chat
) -> None:
    stage = Stage(server, model, server.make_agent("Tutor", human="Name: Bob"))
    model.script(text("".join(PARTS)))
    stage.send("Tell me")
    stage.rest()
    page = chat(stage.agent)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    code = page.get_by_role("region", name="Code, python")
    expect(code).to_have_attribute("tabindex", "0")
    code.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("(code) => code.scrollLeft > 0", arg=code.element_handle())
    expect(page.get_by_role("region", name="Table")).to_have_count(0)  # it is narrow
    page.locator(".copy-code").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied.startswith("def f(x):\n    return x")
