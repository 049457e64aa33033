"""A message edited in the page, by keyboard, and the version before it shown again."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import RENAME, Chat, button, converse, log, memory
from tests.support.fake_openai import FakeOpenAI, text, text_and_calls
from tests.support.server import MemoryWeb

pytestmark = pytest.mark.browser


def test_a_message_is_edited_and_its_versions_changed_between(
    server: MemoryWeb, model: FakeOpenAI, chat: Chat, agent: str
) -> None:
    noting = text_and_calls("Noting.", RENAME)
    converse(server, agent, model, "My name is Sarah.", noting, text("Nice to meet you."))
    page = chat(agent)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    expect(memory(page)).to_contain_text("Sarah")
    button(log(page), "Copy this message").first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_title("Copied")).to_be_visible()
    assert page.evaluate("() => navigator.clipboard.readText()") == "My name is Sarah."
    button(log(page), "Edit this message and send it again").focus()
    page.keyboard.press("Enter")
    form = page.locator(".say-again")
    expect(form.get_by_role("textbox")).to_have_value("My name is Sarah.")
    expect(form.get_by_label("Take memory back")).to_be_checked()
    form.get_by_role("textbox").fill("Hello!")
    model.script(text("Hello, whoever you are."))
    button(form, "Send").click()
    expect(log(page)).to_contain_text("whoever you are")
    expect(log(page)).not_to_contain_text("Nice to meet you.")
    expect(memory(page).locator("del")).to_contain_text("Sarah")
    button(log(page), "The version before").click()
    expect(log(page)).to_contain_text("Nice to meet you.")
    expect(page.get_by_role("group", name="Versions of this message")).to_contain_text("1/2")
