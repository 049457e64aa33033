"""The browser's own page around an image has nothing to complain of: it brings a style of its own.

That no other page and no state has is seen by test_axe.py, which goes through them all.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Chat
from tests.support.pictures import picture
from tests.support.server import MemoryWeb

pytestmark = pytest.mark.browser


def test_an_image_alone_has_nothing_to_complain_of(
    server: MemoryWeb, agent: str, chat: Chat
) -> None:
    page = chat(agent)
    image = [{"name": "red.png", "mimeType": "image/png", "buffer": picture(64, 48, "red")}]
    page.locator("#attach-file").set_input_files(image)  # type: ignore[arg-type]
    shown = page.get_by_role("list", name="Attached files").get_by_role("img")
    page.goto(f"{server.url}{shown.get_attribute('src')}")
    expect(page.get_by_role("img")).to_be_visible()
