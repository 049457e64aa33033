"""Files in a real browser: chosen, dropped, refused, kept over a reload, sent and removed."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.attached_files.test_reading import HANDBOOK, LOCKED
from tests.browser.conftest import Chat, button, composer, log, say
from tests.support.fake_openai import FakeOpenAI, text
from tests.support.pictures import picture
from tests.support.server import MemoryWeb

pytestmark = pytest.mark.browser

DROP = """([name, text]) => {
    const carried = new DataTransfer();
    carried.items.add(new File([text], name, { type: "text/markdown" }));
    const options = { bubbles: true, cancelable: true, dataTransfer: carried };
    document.getElementById("main").dispatchEvent(new DragEvent("drop", options));
}"""


def choose(page: Page, *files: tuple[str, str, bytes]) -> None:
    payload: list[Any] = [
        {"name": name, "mimeType": kind, "buffer": data} for name, kind, data in files
    ]
    page.locator("#attach-file").set_input_files(payload)


def test_files_become_passages_and_the_message_names_them(
    server: MemoryWeb, model: FakeOpenAI, chat: Chat, expected_complaints: list[str]
) -> None:
    expected_complaints.append("422")
    agent = server.make_agent()
    page, other = chat(agent), chat(agent)
    attached = page.get_by_role("list", name="Attached files").get_by_role("listitem")
    error = page.locator("#composer-error")
    choose(page, ("handbook.pdf", "application/pdf", HANDBOOK))
    composer(page).fill("Too early")
    composer(page).press("Enter")
    expect(error).to_contain_text("A file is still being uploaded or read")
    page.reload()  # while it is read
    expect(attached).to_contain_text("2 passages in archival memory")
    expect(attached).to_contain_text("Page 2 has no text that could be read.")
    page.evaluate(DROP, ["pie.md", "# Pie\n\nCherries, and nothing else."])
    choose(page, ("red.png", "image/png", picture(64, 48, "red")))
    expect(attached.nth(1)).to_contain_text("1 passage in archival memory")
    expect(attached.get_by_role("img")).to_have_count(1)
    choose(page, ("locked.pdf", "application/pdf", LOCKED))
    expect(error).to_contain_text("locked.pdf: It has a password")
    choose(page, ("run.exe", "application/octet-stream", b"MZ"))
    expect(error).to_contain_text("run.exe: Files of this kind cannot be read.")
    expect(attached).to_have_count(3)
    page.evaluate(DROP, ["wrong.txt", "Not this one."])
    expect(attached.nth(3)).to_contain_text("1 passage in archival memory")
    button(attached.nth(3), "Remove wrong.txt").click()
    expect(attached).to_have_count(3)
    model.script(text("It is at half past eight."))
    say(page, "When is the pie?")
    expect(attached).to_have_count(0)
    for tab in (page, other):
        expect(log(tab)).to_contain_text("It is at half past eight.")
        files = log(tab).get_by_role("list", name="Files in archival memory").get_by_role("link")
        expect(files).to_have_text(
            ["handbook.pdf 2 passages in archival memory", "pie.md 1 passage in archival memory"]
        )
        expect(tab.locator("#tab-archival")).to_contain_text("3")
    said = model.requests[-1]["messages"][-1]["content"]
    assert '[Attached file "pie.md": its text is in archival memory, in 1 passage' in str(said)
    log(page).get_by_role("link", name="handbook.pdf").click()
    panel = page.locator("#panel-archival")
    expect(panel.locator(".kept:not(.gone)")).to_have_count(2)
    expect(panel).to_contain_text("From handbook.pdf, page 3.")
    button(panel, "Delete all passages with this tag").click()
    expect(panel).to_contain_text("Delete 2 passages tagged handbook.pdf permanently?")
    button(panel, "Delete them").click()
    expect(panel.locator(".kept:not(.gone)")).to_have_count(0)
    expect(other.locator("#tab-archival")).to_contain_text("1")
