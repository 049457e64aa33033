"""The tools with which an agent reads and searches the web."""

from __future__ import annotations

import json
import re
from typing import Any, Literal
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from html_to_markdown import ConversionOptions, PreprocessingOptions, convert

from agents import outgoing

from .custom.outcome import LONGEST_OUTPUT, cut
from .tool import Caller, ToolError, tool

MOST_RESULTS = 50
LONGEST_EXCERPT = 1_000  # characters of a result
PLAIN = re.compile(r"text/|application/(json|xml|javascript|[\w.-]+\+(json|xml))")
HTML = ("text/html", "application/xhtml+xml")
CATEGORIES = {"news": "news", "research paper": "science", "github": "it"}
NO_SEARCH = (
    "Searching the web is not set up on this server: the administrator can name a SearXNG in"
    " MEMORYWEB_SEARXNG_URL."
)


@tool(family="letta_builtin", yields=True, outside=True)
def fetch_webpage(caller: Caller, url: str) -> str:
    """Read a page of the web, as Markdown.

    Args:
        url: The page's address, with https:// or http://.
    """
    try:
        reply = outgoing.fetch(url, accept="text/html, text/*;q=0.9, application/json;q=0.8")
    except outgoing.OutgoingError as error:
        raise ToolError(str(error)) from None
    if reply.status >= 400:
        raise ToolError(f"{reply.url} answered with an error, {reply.status}.")
    kind = reply.content_type.partition(";")[0].strip()
    if kind in HTML:
        return cut(as_markdown(reply.text, reply.url))
    if kind and not PLAIN.match(kind):
        raise ToolError(f"{reply.url} is '{kind[:100]}', of which no text can be read.")
    return cut(reply.text)


def as_markdown(html: str, url: str) -> str:
    """The text of a page, without what is around it; links are complete."""
    options = ConversionOptions(
        extract_metadata=False,
        skip_images=True,
        base_url=url,
        preprocessing=PreprocessingOptions(enabled=True, preset="aggressive"),
        max_input_size=outgoing.LARGEST_ANSWER,
    )
    text = (convert(html.encode("utf-8", "replace").decode(), options).content or "").strip()
    if not text:
        raise ToolError(f"{url} has no text; it may be made by a script in the browser.")
    return text


def no_search() -> str:
    """Why the web cannot be searched here; "" if it can."""
    return "" if settings.SEARXNG_URL else NO_SEARCH


@tool(family="letta_builtin", yields=True, outside=True, missing=no_search)
def web_search(
    caller: Caller,
    query: str,
    num_results: int = 10,
    category: Literal["news", "research paper", "github"] | None = None,
    include_domains: list[str] | None = None,
    exclude_domains: list[str] | None = None,
) -> str:
    """Search the web. Read a page that is found with fetch_webpage.

    Args:
        query: What to look for.
        num_results: How many results at most, 1 to 50.
        category: Only results of this kind.
        include_domains: Only results of these sites, such as ["python.org"].
        exclude_domains: No results of these sites.
    """
    if no_search():
        raise ToolError(f"{NO_SEARCH} Nothing was searched; do without it.")
    if not query.strip():
        raise ToolError("The query is empty.")
    if not 1 <= num_results <= MOST_RESULTS:
        raise ToolError(f"num_results is {num_results}; give a number from 1 to {MOST_RESULTS}.")
    sites = " OR ".join(f"site:{domain}" for domain in include_domains or [])
    terms = {"q": f"{query} {sites}".strip(), "format": "json"}
    if category:
        terms["categories"] = CATEGORIES[category]
    found = [
        result
        for result in searched(terms)
        if (not include_domains or is_of(result["url"], include_domains))
        and not is_of(result["url"], exclude_domains or [])
    ]
    answer = {"query": query, "results": found[:num_results]}
    return cut(json.dumps(answer, ensure_ascii=False, indent=2), limit=LONGEST_OUTPUT)


def searched(terms: dict[str, str]) -> list[dict[str, Any]]:
    """What SearXNG found."""
    address = f"{settings.SEARXNG_URL.rstrip('/')}/search?{urlencode(terms)}"
    try:
        reply = outgoing.fetch(address, accept="application/json", trusted=True)
    except outgoing.OutgoingError as error:
        raise ToolError(f"The search did not answer: {error}") from None
    if reply.status != 200:
        why = " Its settings have to allow the format json." if reply.status == 403 else ""
        raise ToolError(f"The search answered with an error, {reply.status}.{why}")
    try:
        results = json.loads(reply.body)["results"]
        return [result_of(each) for each in results if each["url"]]
    except (ValueError, KeyError, TypeError):
        raise ToolError("The search answered with something that is no list of results.") from None


def result_of(each: dict[str, Any]) -> dict[str, Any]:
    """A result in the form of Letta's."""
    excerpt = str(each.get("content") or "")[:LONGEST_EXCERPT]
    return {
        "title": str(each.get("title") or "")[:LONGEST_EXCERPT],
        "url": str(each["url"]),
        "published_date": each.get("publishedDate"),
        "author": each.get("author"),
        "highlights": [excerpt] if excerpt else [],
    }


def is_of(url: str, domains: list[str]) -> bool:
    """Whether an address is of one of these sites."""
    host = (urlsplit(url).hostname or "").lower()
    return any(host == each.lower() or host.endswith(f".{each.lower()}") for each in domains)
