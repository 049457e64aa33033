"""The pictures of these pages, taken anew from the running application: `make docs`.

Usage: `python docs/screenshots.py [FOLDER]`, with the browser in MEMORYWEB_TEST_BROWSER.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, ViewportSize, expect, sync_playwright

TOP = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOP))

from tests.support.fake_openai import FakeOpenAI, calls, text  # noqa: E402
from tests.support.server import MemoryWeb, eventually  # noqa: E402

SIZE: ViewportSize = {"width": 1440, "height": 900}
TALK = (
    "My name is Sarah and I like cherry pie.",
    "Remember for later: the cabin key is under the third stone.",
    "Actually, my name is Charles.",
)
ANNOUNCE = """
from agents.models import Announcement
Announcement.objects.create(text="**Tonight at 22:00 UTC** memoryweb moves to a larger machine.",
                            level="warning")
Announcement.objects.create(text="There is a new model: `work/qwen3-32b`.")
"""
DEFINE = """
from agents.models import EndpointModel, ModelEndpoint
row = ModelEndpoint.objects.create(name="work", base_url="{url}", everyone=True)
EndpointModel.objects.create(endpoint=row, name="fake-model", context_window=32000)
print(row.pk)
"""


class Tour:
    """The application, the pages of a browser, and the folder of the pictures."""

    # In the order in which they are taken: some need what those before have done.
    PICTURES = (
        *("screenshot", "context", "history", "time_travel", "endpoint_test", "model_test"),
        *("usage", "audit", "storage", "runs", "announcements"),
    )

    def __init__(self, server: MemoryWeb, model: FakeOpenAI, page: Page, folder: Path) -> None:
        self.server, self.model, self.page, self.folder = server, model, page, folder
        self.agent = server.make_agent("Tutor", human="Name: unknown")

    def go(self, path: str) -> None:
        self.page.goto(f"{self.server.url}{path}")
        self.page.wait_for_load_state("networkidle")

    def say(self, words: str) -> None:
        self.page.get_by_role("textbox", name="Message", exact=True).fill(words)
        self.page.keyboard.press("Enter")
        eventually(lambda: words in [each for each, _ in self.server.runs(self.agent)])

    def talk(self) -> None:
        self.go(f"/agents/{self.agent}/")
        for words in TALK:
            self.say(words)
            eventually(lambda: self.server.is_idle(self.agent))
        expect(self.page.locator("#core-memory")).to_contain_text("Charles")

    def shell(self, code: str) -> str:
        done = self.server.command("shell", "--no-imports", "-c", code)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    # -- the pictures ----------------------------------------------------------------------------

    def screenshot(self) -> None:
        self.go(f"/agents/{self.agent}/")

    def context(self) -> None:
        self.go(f"/agents/{self.agent}/?panel=context")

    def history(self) -> None:
        self.go(f"/agents/{self.agent}/?panel=history")

    def time_travel(self) -> None:
        self.go(f"/agents/{self.agent}/past/2/")

    def model_test(self) -> None:
        self.go(f"/agents/{self.agent}/settings/")
        self.model.script(text("1 2 3 4 5 6 7 8 9 10"), calls(("note_colour", {"colour": "blue"})))
        self.page.get_by_label("Model", exact=True).fill("work/fake-model")
        self.page.get_by_role("button", name="Test", exact=True).click()
        expect(self.page.locator(".findings")).to_contain_text("calls tools")

    def endpoint_test(self) -> None:
        number = self.shell(DEFINE.format(url=self.model.base_url))
        self.go(f"/admin/agents/modelendpoint/{number}/test/")
        self.model.script(text("1 2 3 4 5 6 7 8 9 10"), calls(("note_colour", {"colour": "blue"})))
        self.page.get_by_label("Model").fill("fake-model")
        self.page.get_by_role("button", name="Test", exact=True).click()
        expect(self.page.get_by_text("calls tools")).to_be_visible()

    def usage(self) -> None:
        self.go("/admin/agents/usage/")

    def audit(self) -> None:
        self.go("/admin/agents/auditentry/")

    def storage(self) -> None:
        self.go("/admin/storage/")

    def runs(self) -> None:
        self.go("/admin/agents/run/")

    def announcements(self) -> None:
        self.shell(ANNOUNCE)
        self.go(f"/agents/{self.agent}/")

    def take_all(self) -> None:
        self.talk()
        for name in self.PICTURES:
            getattr(self, name)()
            self.page.screenshot(path=self.folder / f"{name.replace('_', '-')}.png")


@contextmanager
def application() -> Iterator[tuple[MemoryWeb, FakeOpenAI]]:
    with TemporaryDirectory() as data, FakeOpenAI() as model, MemoryWeb(Path(data)) as server:
        yield server, model


def main(folder: Path) -> None:
    browser = os.environ.get("MEMORYWEB_TEST_BROWSER") or shutil.which("chromium")
    with application() as (server, model), sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = chromium.new_page(viewport=SIZE, color_scheme="light", reduced_motion="reduce")
        Tour(server, model, page, folder).take_all()
        chromium.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
