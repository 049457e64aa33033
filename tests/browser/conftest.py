"""A real browser against a real server. A test fails on any complaint in the browser's console."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import pytest
from playwright.sync_api import (
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    WebError,
    WebSocketRoute,
    expect,
)

from tests.support.fake_openai import FakeOpenAI, calls, text
from tests.support.server import MemoryWeb, eventually

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
PATIENCE = 15_000  # milliseconds; what is awaited comes at once, unless the machine is busy
WIDE = {"width": 1440, "height": 900}

Chat = Callable[..., Page]


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """The installed browser, which asks nobody for anything."""
    wanted = os.environ.get("MEMORYWEB_TEST_BROWSER", "")
    path = wanted or next(filter(None, map(shutil.which, NAMES)), "")
    if not path:
        pytest.fail(
            "There is no browser: install Chromium or Chrome, or name one in"
            " MEMORYWEB_TEST_BROWSER. `make test` does that by itself."
        )
    return browser_type_launch_args | {
        "executable_path": path,
        "args": [
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--no-first-run",
        ],
    }


# Of a page that a test leaves, or that goes with its browser, in the moment in which it connects.
LEFT_EARLY = "WebSocket is closed before the connection is established"


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    return browser_context_args | {"viewport": WIDE, "reduced_motion": "reduce"}


@pytest.fixture
def expected_complaints() -> list[str]:
    """Patterns of what the browser may say in this test."""
    return []


@pytest.fixture(autouse=True)
def no_complaints(context: BrowserContext, expected_complaints: list[str]) -> Iterator[None]:
    """No error in the console, no breach of the Content-Security-Policy, no exception."""
    heard: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            heard.append(f"{message.type}: {message.text} ({message.location.get('url')})")

    def note_exception(error: WebError) -> None:
        heard.append(f"exception: {error.error}")

    context.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    context.on("console", note)
    context.on("weberror", note_exception)
    yield
    expected = [LEFT_EARLY, *expected_complaints]
    unexpected = [words for words in heard if not any(re.search(p, words) for p in expected)]
    assert not unexpected, "The browser complained:\n" + "\n".join(unexpected)


@pytest.fixture(scope="session")
def fake_model() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as model:
        yield model


@pytest.fixture(scope="session")
def scripted_server(
    fake_model: FakeOpenAI, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MemoryWeb]:
    with MemoryWeb(tmp_path_factory.mktemp("scripted"), fake_model) as server:
        yield server


@pytest.fixture
def server(scripted_server: MemoryWeb) -> MemoryWeb:
    """A server whose model is `model`."""
    return scripted_server


@pytest.fixture
def model(fake_model: FakeOpenAI) -> Iterator[FakeOpenAI]:
    """The scripted model of `server`; a test uses up what it scripts."""
    yield fake_model
    assert not fake_model.refused
    assert not fake_model.unused


@pytest.fixture
def agent(server: MemoryWeb) -> str:
    return server.make_agent("Tutor", human="Name: Bob")


@pytest.fixture
def chat(context: BrowserContext, server: MemoryWeb) -> Chat:
    """Open the page of an agent; back when its socket listens."""

    def open_page(agent: str, route: Callable[[WebSocketRoute], None] | None = None) -> Page:
        page = context.new_page()
        if route:
            page.route_web_socket(re.compile(r"/ws/\?"), route)
        with page.expect_websocket() if not route else nullcontext():
            page.goto(f"{server.url}/agents/{agent}/")
        caught_up(page, server, agent)
        return page

    return open_page


def converse(server: MemoryWeb, agent: str, model: FakeOpenAI, words: str, *answers: Any) -> None:
    """An exchange by plain POST, as another page would have it; back when the run has ended."""
    model.script(*answers)
    server.post(f"/agents/{agent}/messages/", text=words, key=words)
    eventually(lambda: server.is_idle(agent))


RENAME = (
    "core_memory_replace",
    {"label": "human", "old_content": "Name: Bob", "new_content": "Name: Sarah"},
)


def change_by_the_agent(server: MemoryWeb, model: FakeOpenAI, agent: str) -> None:
    """The agent calls Bob Sarah in its memory."""
    converse(server, agent, model, "My name is Sarah.", calls(RENAME), text("Noted."))


def caught_up(page: Page, server: MemoryWeb, agent: str) -> None:
    """The page has drawn all that is in the agent's log."""
    eventually(lambda: seq_of(page) == server.last_seq(agent))


def seq_of(page: Page) -> int:
    return int(page.locator("#chat").get_attribute("data-seq") or 0)


# -- the page in the words of its anatomy ---------------------------------------------------------


def log(page: Page) -> Locator:
    return page.get_by_role("log", name="Conversation")


def composer(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Message", exact=True)


def status(page: Page) -> Locator:
    return page.get_by_role("status")


def memory(page: Page) -> Locator:
    return page.get_by_role("region", name="Core memory")


def block(page: Page, label: str = "human") -> Locator:
    return memory(page).get_by_role("group", name=label, exact=True)


def button(scope: Page | Locator, name: str) -> Locator:
    return scope.get_by_role("button", name=name, exact=True)


def say(page: Page, words: str) -> None:
    """Type a message and send it with Enter; the box is empty once it is stored."""
    composer(page).fill(words)
    composer(page).press("Enter")
    expect(composer(page)).to_have_value("")


def follow(page: Page, link: Locator) -> None:
    """Click what leads to another page, and wait until the scripts of that page are there."""
    with page.expect_navigation():
        link.click()


def begin_as(page: Page, template: str) -> None:
    """From the welcome page to the form of a new agent."""
    follow(page, page.get_by_role("main").get_by_role("link", name=template))


def make_agent(page: Page, name: str) -> None:
    """Make an agent by the form, as it stands but for its name."""
    page.get_by_role("textbox", name="Name", exact=True).fill(name)
    follow(page, button(page, "Create agent"))
    expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
