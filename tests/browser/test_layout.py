"""No page is wider than its window: on the narrowest phone, with text twice as large, from right to
left, and in a language of long words."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Literal

import pytest
from PIL import Image
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import composer
from tests.browser.everywhere import Site
from tests.browser.test_axe import log_in, none
from tests.support.fake_openai import FakeOpenAI
from tests.support.server import MemoryWeb

pytestmark = [pytest.mark.browser, pytest.mark.sqlite_only]
# What is wider than the window and can be neither seen nor scrolled to within its own box.
TOO_WIDE = """() => {
  const room = document.documentElement.clientWidth;
  const most = Math.max(document.documentElement.scrollWidth, document.body.scrollWidth);
  if (most <= room + 1) return "";
  const scrolls = (each) =>
    each && (getComputedStyle(each).overflowX !== "visible" || scrolls(each.parentElement));
  const wide = [...document.querySelectorAll("body *")].filter((each) => {
    const { left, right, width } = each.getBoundingClientRect();
    return width && (right > room + 1 || left < -1) && !scrolls(each.parentElement);
  });
  const said = wide.slice(-3).map((each) => each.outerHTML.slice(0, 120));
  return `${most} of ${room} px: ${said.join(" | ")}`;
}"""
LONG_WORDS = "de"
TWO_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
# How a page is looked at: name, width in px, direction, size of text.
WAYS = (
    ("narrowest", 320, "ltr", "100%"),
    ("twice the text", 1280, "ltr", "200%"),
    ("twice the text on a tablet", 768, "ltr", "200%"),
    ("right to left", 1440, "rtl", "100%"),
    ("right to left on a phone", 390, "rtl", "100%"),
)


@pytest.fixture
def expected_complaints() -> list[str]:
    """The browser logs each answer of that kind, whatever the page does with it."""
    return [r"responded with a status of (403|404|410)"]


@pytest.fixture(scope="module")
def site(fake_model: FakeOpenAI, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    with MemoryWeb(folder, fake_model, MEMORYWEB_ACCOUNTS="1") as server:
        yield Site(server, fake_model)


@pytest.fixture
def page(context: BrowserContext, site: Site) -> Page:
    log_in(context, site.visitor.cookies, site)
    return context.new_page()


def test_no_page_is_wider_than_a_phone_in_a_language_of_long_words(site: Site, page: Page) -> None:
    cookie = {"name": "memoryweb_language", "value": LONG_WORDS, "url": site.server.url}
    page.context.add_cookies([cookie])  # type: ignore[list-item]
    page.set_viewport_size({"width": 390, "height": 844})
    found = []
    for path in site.pages():
        page.goto(f"{site.server.url}/{path}")
        expect(page.locator("html")).to_have_attribute("lang", LONG_WORDS)
        if words := page.evaluate(TOO_WIDE):
            found.append(f"{path}: {words}")
    none(found)


def look(page: Page, width: int, direction: str, size: str) -> str:
    page.set_viewport_size({"width": width, "height": 844})
    page.evaluate(
        "([dir, size]) => { const html = document.documentElement;"
        " html.dir = dir; html.style.fontSize = size; }",
        [direction, size],
    )
    return str(page.evaluate(TOO_WIDE))


def test_no_page_is_wider_than_its_window(site: Site, page: Page) -> None:
    found = []
    for path in site.pages():
        page.goto(f"{site.server.url}/{path}")
        for name, width, direction, size in WAYS:
            if words := look(page, width, direction, size):
                found.append(f"{path} ({name}): {words}")
    none(found)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_where_the_system_chooses_the_colours_what_is_marked_can_be_told(
    site: Site, page: Page, scheme: Literal["light", "dark"]
) -> None:
    """The bar of a block, the chosen tab, the agent that is open, and what has the focus."""
    page.emulate_media(forced_colors="active", color_scheme=scheme)
    page.goto(f"{site.server.url}{site.stage('Forced').path}/")
    bar = page.locator(".block-view progress").first
    bar.evaluate("bar => bar.value = bar.max / 2")
    colours = Image.open(BytesIO(bar.screenshot())).convert("RGB").getcolors()
    assert colours is not None
    assert sum(count > 20 for count, _ in colours) >= 3
    chosen = page.get_by_role("tab", selected=True).first
    expect(chosen).to_have_css("text-decoration-line", "underline")
    expect(page.locator(".row a[aria-current]").first).to_have_css("outline-style", "solid")
    composer(page).focus()
    expect(page.locator(".composer-box")).to_have_css("outline-style", "solid")


def test_nothing_moves_for_those_who_asked_for_that(site: Site, page: Page) -> None:
    """A change of a block is animated where motion is welcome, and only there."""
    for motion, moves in (("no-preference", True), ("reduce", False)):
        page.emulate_media(reduced_motion=motion)  # type: ignore[arg-type]
        stage = site.stage(f"Moves {moves}")
        page.goto(f"{site.server.url}{stage.path}/")
        expect(composer(page)).to_be_visible()
        page.evaluate(
            "() => { window.moved = 0;"
            " for (const name of ['animationstart', 'transitionrun'])"
            "   addEventListener(name, () => { window.moved += 1; }, true); }"
        )
        stage.server.edit_block(stage.agent, "Name: Carol")
        expect(page.locator(".block-view .value").filter(has_text="Carol")).to_be_visible()
        if moves:
            page.wait_for_function("() => window.moved")
        page.evaluate(TWO_FRAMES)
        assert bool(page.evaluate("() => window.moved")) == moves
