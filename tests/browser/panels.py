"""The panel's tabs as the browser tests use them: the history of edits and archival memory."""

from __future__ import annotations

import re
from urllib.parse import parse_qs

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import caught_up
from tests.support.server import MemoryWeb


def tab(page: Page, name: str) -> Locator:
    return page.get_by_role("tab", name=name)


def panel(page: Page, name: str = "History") -> Locator:
    return page.get_by_role("tabpanel", name=name)


def entries(page: Page) -> Locator:
    return panel(page).locator(".edit:not(.origin)")


def entry(page: Page, version: int) -> Locator:
    """The entry of a version of the block `human`."""
    said = re.compile(rf"^\s*human\s+version {version}\b")
    return panel(page).locator(".edit").filter(has_text=said)


def open_at(page: Page, server: MemoryWeb, agent: str, query: str) -> None:
    page.goto(f"{server.url}/agents/{agent}/?{query}")
    caught_up(page, server, agent)


def panels_rest(page: Page) -> None:
    """Whatever the page meant to fetch for the events it was told of by now is drawn."""
    page.evaluate("() => new Promise((done) => setTimeout(done, 301))")  # as panel.js waits 300 ms
    expect(page.locator("[data-live][aria-busy]")).to_have_count(0)


def queries(page: Page) -> str:
    return page.evaluate("() => location.search")  # type: ignore[no-any-return]


# -- archival memory -------------------------------------------------------------------------------


def put_away(server: MemoryWeb, agent: str, said: str, tags: str = "") -> None:
    assert server.post(f"/agents/{agent}/archival/add/", text=said, tags=tags).status == 200


def key_of(server: MemoryWeb, said: str) -> int:
    pk: int = server.one("SELECT max(id) FROM agents_passage WHERE text = ?", said)
    return pk


def edit(server: MemoryWeb, agent: str, said: str, now: str, tags: str = "") -> int:
    """Change a passage by hand, as another page would; the status."""
    pk = key_of(server, said)
    when = server.one("SELECT updated_at FROM agents_passage WHERE id = ?", pk)
    version = when.replace(" ", "T") + "+00:00"
    path = f"/agents/{agent}/archival/{pk}/"
    return server.post(path, text=now, tags=tags, version=version).status


def delete(server: MemoryWeb, agent: str, said: str) -> None:
    pk = key_of(server, said)
    when = server.one("SELECT updated_at FROM agents_passage WHERE id = ?", pk)
    path = f"/agents/{agent}/archival/{pk}/delete/"
    assert server.post(path, version=when.replace(" ", "T") + "+00:00").status == 200


def archival(page: Page) -> Locator:
    return panel(page, "Archival")


def passages(page: Page) -> Locator:
    """Those that are to be seen."""
    return archival(page).locator(".kept:visible")


def passage(page: Page, said: str) -> Locator:
    return passages(page).filter(has_text=said)


def texts(page: Page) -> list[str]:
    return page.locator(".kept:visible .kept-text").all_inner_texts()


def search_box(page: Page) -> Locator:
    return archival(page).get_by_role("searchbox")


def searched(page: Page) -> str:
    """What the address says is searched for."""
    return parse_qs(queries(page)[1:]).get("q", [""])[0]


def editor(scope: Page | Locator, name: str) -> Locator:
    return scope.get_by_role("textbox", name=name)
