"""axe finds nothing serious, critical or moderate on any page, in any state, width and theme.

The fixture `no_complaints` listens to the console meanwhile: no breach of the policy, no error, no
exception.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import BrowserContext, Page

from tests.browser.everywhere import DOORS, Site
from tests.browser.states import STATES
from tests.support.fake_openai import FakeOpenAI
from tests.support.server import MemoryWeb

pytestmark = [pytest.mark.browser, pytest.mark.sqlite_only]
SIZES = ((1440, 900), (768, 1024), (390, 844))
# The themes differ in colours alone.
OF_COLOURS = ["color-contrast", "link-in-text-block"]
FIND = """async (rules) => {
  for (const animation of document.getAnimations()) animation.finish();
  const options = {resultTypes: ["violations"], xpath: false, preload: false};
  if (rules) options.runOnly = {type: "rule", values: rules};
  const { violations } = await axe.run(document, options);
  return violations.filter(({ impact }) => impact !== "minor").flatMap(({ id, impact, nodes }) =>
    nodes.map((node) => `${id} (${impact}): ${node.html.slice(0, 160)} ${node.failureSummary}`));
}"""
PARTS = 3


@pytest.fixture
def expected_complaints() -> list[str]:
    """The browser logs each answer of that kind, whatever the page does with it."""
    return [r"responded with a status of (400|403|404|409|410|422)"]


@pytest.fixture(scope="module")
def site(fake_model: FakeOpenAI, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    with MemoryWeb(folder, fake_model, MEMORYWEB_ACCOUNTS="1") as server:
        yield Site(server, fake_model)


@pytest.fixture
def page(context: BrowserContext, site: Site) -> Page:
    log_in(context, site.visitor.cookies, site)
    return context.new_page()


def log_in(context: BrowserContext, cookies: dict[str, str], site: Site) -> None:
    context.add_cookies(
        [{"name": name, "value": value, "url": site.server.url} for name, value in cookies.items()]
    )


def faults(page: Page, where: str) -> list[str]:
    """What axe finds there, in both themes and at all widths."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found: dict[str, list[str]] = {}
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            for words in page.evaluate(FIND, OF_COLOURS if theme == "dark" else None):
                found.setdefault(" ".join(words.split()), []).append(f"{theme} {width}")
    page.set_viewport_size({"width": 1440, "height": 900})
    return [f"{where} ({', '.join(at)}): {words}" for words, at in found.items()]


def none(found: list[str]) -> None:
    assert not found, "\n".join(found)


@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_on_any_page(part: int, site: Site, page: Page) -> None:
    found = []
    for path in site.pages()[part::PARTS]:
        page.goto(f"{site.server.url}/{path}")
        found += faults(page, path)
    none(found)


def test_nothing_for_those_who_are_not_logged_in_or_may_only_look(
    site: Site, context: BrowserContext
) -> None:
    page, found = context.new_page(), []
    for path in DOORS:
        page.goto(f"{site.server.url}/{path}")
        found += faults(page, path)
    log_in(context, site.other.cookies, site)
    agent = f"agents/{site.ids['agent_id']}/"
    for path in ("", agent, f"{agent}settings/", f"blocks/{site.ids['block_id']}/"):
        page.goto(f"{site.server.url}/{path}")
        found += faults(page, f"{path} as another")
    none(found)


@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_in_any_state(part: int, site: Site, page: Page, model: FakeOpenAI) -> None:
    found = []
    for name in list(STATES)[part::PARTS]:
        stage = site.stage()
        page.goto(f"{site.server.url}{stage.path}/")
        STATES[name](page, stage)
        found += faults(page, name)
        for leave in stage.on_leaving:
            leave()
        stage.rest()
    none(found)
