"""No text of the pages is said in English alone: in a language in which each marked text stands in
brackets, what stands outside of them is what people and models wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, Route

from tests.browser.everywhere import Site
from tests.browser.test_axe import log_in, none
from tests.support import pseudo_locale
from tests.support.fake_openai import FakeOpenAI
from tests.support.server import MemoryWeb

pytestmark = [pytest.mark.browser, pytest.mark.sqlite_only]
OUTSIDE = r"""(data) => {
  const found = new Set(), letters = /\p{L}{2}/u;
  const walker = document.createTreeWalker(document, NodeFilter.SHOW_TEXT);
  for (let node, depth = 0; (node = walker.nextNode()); ) {
    if (node.parentElement.closest(`script, style, noscript, ${data}`)) continue;
    let outside = "";
    for (const letter of node.data) {
      if (letter === "⟦") depth += 1;
      else if (letter === "⟧") depth -= 1;
      else if (!depth) outside += letter;
    }
    if (letters.test(outside)) found.add(outside.replace(/\s+/g, " ").trim());
  }
  const names = ["title", "aria-label", "placeholder", "alt", "hx-confirm"];
  for (const name of names) for (const each of document.querySelectorAll(`[${name}]`)) {
    const value = each.getAttribute(name);
    const said = letters.test(value) && !value.includes("⟦") && !each.closest(data);
    if (said) found.add(`${name}: ${value}`);
  }
  return [...found];
}"""
# What people, agents and tools wrote and are called, and what is said to models alone.
DATA = ", ".join(
    (
        *("pre", "code", "textarea", "option", ".brand", ".languages", ".language", ".tries[lang]"),
        *(".name", ".who", ".last-line", ".tool-name", ".tool-title", ".to-block", ".value"),
        *(".text", ".rest", ".say", ".diff", "ins", "del", ".does", ".type", ".schema dd"),
        *("h3", "dd", ".tool-card > p:not([class])", ".about"),
    )
)
# Names of theirs that stand in sentences, titles and labels.
NAMES = re.compile(
    r"((title|aria-label|placeholder): )?([a-z]+(_[a-z]+)+|Tutor|persona|human|ana|ben|memory|shout"
    r"|stream|export\.zip|fake-model|My name is Sarah\.|Likes pie|(You are a helpful|Name:).*)"
    r"|.*· memoryweb|words|times|what|date|urgent|What to say\.|How often\.|Say it loudly\."
    r"|What has to be done\.|By when, as in 2027-03-31\.|Whether it comes before everything else\."
)
# Scripts take their texts from a file of their own.
SCRIPTS = """
globalThis.gettext = (text) => `⟦${text}⟧`;
globalThis.ngettext = (one, more, count) => gettext(count === 1 ? one : more);
globalThis.pgettext = (context, text) => gettext(text);
"""
# Pages of others, whose catalogs are real, and of the API, which is in English.
OTHERS = re.compile(r"^(admin|accounts|api|v1)/")


@pytest.fixture(scope="module")
def locale(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("locale")
    pseudo_locale.write(folder)
    return str(folder)


@pytest.fixture(scope="module")
def site(
    fake_model: FakeOpenAI, locale: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    settings = {
        "DJANGO_SETTINGS_MODULE": "tests.support.pseudo_locale",
        "MEMORYWEB_TEST_LOCALE": locale,
        "MEMORYWEB_ACCOUNTS": "1",
    }
    with MemoryWeb(tmp_path_factory.mktemp("site"), fake_model, **settings) as server:
        yield Site(server, fake_model)


@pytest.fixture
def page(context: BrowserContext, site: Site) -> Page:
    log_in(context, site.visitor.cookies, site)
    context.route(re.compile(r"/js/catalog/de[^/]*\.js"), in_brackets)
    return context.new_page()


def in_brackets(route: Route) -> None:
    answer = route.fetch()
    route.fulfill(response=answer, body=answer.text() + SCRIPTS)


@pytest.fixture
def expected_complaints() -> list[str]:
    """The browser logs each answer of that kind, whatever the page does with it."""
    return [r"responded with a status of (400|403|404|409|410|422)"]


def speak(page: Page, site: Site, language: str) -> None:
    cookie = {"name": "memoryweb_language", "value": language, "url": site.server.url}
    page.context.add_cookies([cookie])  # type: ignore[list-item]


def test_all_that_pages_say_is_marked(site: Site, page: Page) -> None:
    speak(page, site, "de")
    found: dict[str, str] = {}
    for path in site.pages():
        if not OTHERS.match(path):
            page.goto(f"{site.server.url}/{path}")
            found |= dict.fromkeys(page.evaluate(OUTSIDE, DATA), path)
    none([f"{path}: {words}" for words, path in found.items() if not NAMES.fullmatch(words)])
