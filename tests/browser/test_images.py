"""Images in a real browser: chosen, pasted, dropped, taken away, sent, seen, and not lost."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Chat, button, composer, log, say
from tests.support.fake_openai import FakeOpenAI, gated, text
from tests.support.pictures import SVG, picture
from tests.support.server import MemoryWeb

pytestmark = pytest.mark.browser

GIVE = """([kind, data]) => {
    const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
    const carried = new DataTransfer();
    carried.items.add(new File([bytes], "pie.png", { type: "image/png" }));
    const place = document.getElementById(kind === "paste" ? "message" : "main");
    const options = { bubbles: true, cancelable: true };
    place.dispatchEvent(kind === "paste"
        ? new ClipboardEvent("paste", { ...options, clipboardData: carried })
        : new DragEvent("drop", { ...options, dataTransfer: carried }));
}"""


def give(page: Page, kind: str, data: bytes) -> None:
    """Paste a file, or drop it."""
    page.evaluate(GIVE, [kind, base64.b64encode(data).decode()])


def choose(page: Page, *files: tuple[str, bytes]) -> None:
    payload: list[Any] = [
        {"name": name, "mimeType": "image/png", "buffer": data} for name, data in files
    ]
    page.locator("#attach-file").set_input_files(payload)


def test_images_are_attached_sent_and_seen(
    server: MemoryWeb, model: FakeOpenAI, chat: Chat, expected_complaints: list[str]
) -> None:
    expected_complaints.append("422")
    page = chat(server.make_agent())
    other = chat(page.url.rstrip("/").rpartition("/")[2])
    attached = page.get_by_role("list", name="Attached files").get_by_role("listitem")
    choose(page, ("red.png", picture(640, 480, "red")))
    expect(attached.get_by_role("img")).to_have_count(1)
    give(page, "paste", picture(300, 200, "green"))
    expect(attached.get_by_role("img")).to_have_count(2)
    give(page, "drop", picture(200, 300, "blue"))
    expect(attached.get_by_role("img")).to_have_count(3)
    choose(page, ("bad.png", SVG))
    expect(page.locator("#composer-error")).to_contain_text("bad.png: This is no image")
    expect(attached).to_have_count(3)
    page.keyboard.press("Shift+Tab")
    button(attached.nth(1), "Remove pie.png").click()
    expect(attached).to_have_count(2)
    page.reload()
    expect(attached.get_by_role("img")).to_have_count(2)
    model.script(text("Two colours."))
    say(page, "What is this?")
    for tab in (page, other):
        expect(log(tab)).to_contain_text("Two colours.")
        images = log(tab).get_by_role("img")
        expect(images).to_have_count(2)
        expect(images.first).to_have_js_property("naturalWidth", 320)
    expect(attached).to_have_count(0)
    sent = model.requests[-1]["messages"][-1]["content"]
    assert [part["type"] for part in sent] == ["text", "image_url", "image_url"]
    with page.expect_popup() as opened:
        log(page).get_by_role("link", name="Image 1 of 2").click()
    expect(opened.value.get_by_role("img")).to_have_js_property("naturalWidth", 640)


def test_what_was_attached_waits_and_survives_a_failed_send(
    server: MemoryWeb, model: FakeOpenAI, chat: Chat, expected_complaints: list[str]
) -> None:
    expected_complaints += ["ERR_INTERNET_DISCONNECTED", "WebSocket"]
    page = chat(server.make_agent())
    gate = gated(text("One."))
    model.script(gate, text("Seen."))
    say(page, "First")
    choose(page, ("red.png", picture(640, 480, "red")))
    attached = page.get_by_role("list", name="Attached files").get_by_role("listitem")
    expect(attached.get_by_role("img")).to_have_count(1)
    composer(page).focus()
    page.keyboard.press("Enter")
    waiting = page.get_by_role("list", name="Queued messages").get_by_role("listitem")
    expect(waiting.first.get_by_role("img", name="Image 1, 640")).to_be_visible()
    expect(attached).to_have_count(0)
    choose(page, ("blue.png", picture(64, 48, "blue")))
    expect(attached.get_by_role("img")).to_have_count(1)
    page.evaluate("document.querySelector('#attached input').value = 'f'.repeat(64)")
    page.keyboard.press("Enter")
    expect(page.locator("#composer-error")).to_contain_text("Attach it again")
    expect(attached).to_have_count(1)
    gate.open()
    expect(log(page)).to_contain_text("Seen.")
    expect(log(page).get_by_role("img")).to_have_count(1)
