"""The main job in Firefox, driven by Mozilla's own Marionette: Debian has no geckodriver."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("marionette_driver", reason="marionette-driver needs Python 3.12 or older.")
from marionette_driver.by import By
from marionette_driver.keys import Keys
from marionette_driver.marionette import Marionette, WebElement

from tests.support.processes import free_port
from tests.support.server import MemoryWeb, eventually

pytestmark = [pytest.mark.browser, pytest.mark.sqlite_only]
# Errors of the pages, and breaches of their policy.
COMPLAINTS = """
return Services.console.getMessageArray()
  .filter((each) => each instanceof Ci.nsIScriptError && each.sourceName.startsWith("http"))
  .filter((each) => !(each.flags & Ci.nsIScriptError.warningFlag))
  .map((each) => `${each.category}: ${each.errorMessage} (${each.sourceName}:${each.lineNumber})`);
"""


class Firefox:
    """A browser with one page."""

    def __init__(self, driver: Marionette) -> None:
        self.driver = driver

    def at(self, selector: str) -> WebElement:
        """The first element there is, as soon as it is shown."""
        return eventually(lambda: next(iter(self.shown(selector)), None))

    def shown(self, selector: str) -> list[WebElement]:
        found = self.driver.find_elements(By.CSS_SELECTOR, selector)
        return [each for each in found if each.is_displayed()]

    def text(self, selector: str) -> str:
        script = "return document.querySelector(arguments[0])?.innerText ?? ''"
        return str(self.driver.execute_script(script, [selector]))

    def shows(self, selector: str, words: str) -> None:
        eventually(lambda: words in self.text(selector))

    def say(self, words: str) -> None:
        self.at("#message").send_keys(words, Keys.ENTER)
        self.shows("#log", words)

    def rests(self) -> None:
        eventually(lambda: self.text("#status").strip() == "Ready")

    def complaints(self) -> list[str]:
        with self.driver.using_context("chrome"):
            return list(self.driver.execute_script(COMPLAINTS))


@pytest.fixture
def firefox(tmp_path: Path) -> Iterator[Firefox]:
    path = shutil.which("firefox-esr") or shutil.which("firefox")
    if not path:
        pytest.skip("No Firefox is installed (Debian: apt-get install firefox-esr).")
    options: dict[str, Any] = {"headless": True, "gecko_log": str(tmp_path / "firefox.log")}
    driver = Marionette(bin=path, port=free_port(), startup_timeout=120, **options)
    try:
        driver.start_session()
        driver.set_window_rect(width=1440, height=1000)
        page = Firefox(driver)
        yield page
        assert not page.complaints()
        driver.delete_session()
    finally:
        driver.cleanup()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[MemoryWeb]:
    """A server that nobody has used yet; the demo model answers."""
    with MemoryWeb(tmp_path / "data") as server:
        yield server


def test_from_nothing_to_a_changed_memory(firefox: Firefox, server: MemoryWeb) -> None:
    firefox.driver.navigate(server.url)
    first = firefox.at("#first-text")
    first.send_keys("My name is Sarah and I like cherry pie.", Keys.ENTER)
    firefox.shows("h1", "Juno")
    firefox.shows("#core-memory", "cherry pie")
    firefox.shows("#core-memory ins", "Sarah")
    firefox.rests()

    firefox.say("Tell me a long story.")
    firefox.shows("#log", "There was once a woman")
    streamed = firefox.text("#log")
    eventually(lambda: len(firefox.text("#log")) > len(streamed))
    firefox.at("#stop").click()
    firefox.shows("#log", "stopped here")
    firefox.rests()

    log, memory = firefox.text("#log"), firefox.text("#core-memory")
    firefox.driver.refresh()
    firefox.at("#log article")
    assert (firefox.text("#log"), firefox.text("#core-memory")) == (log, memory)
