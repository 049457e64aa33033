"""What a model wrote, as HTML. The one place where model text becomes markup, and is sanitised."""

from __future__ import annotations

from functools import lru_cache

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

TAGS = {
    *("a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr"),
    *("li", "ol", "p", "pre", "s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr"),
    "ul",
}
ATTRIBUTES = {"a": {"href", "title"}, "span": {"class"}, "code": {"class"}, "ol": {"start"}}
_formatter = HtmlFormatter(nowrap=True)


def _highlighted(code: str, language: str, _attributes: str) -> str:
    try:
        return str(highlight(code, get_lexer_by_name(language), _formatter))
    except ClassNotFound:
        return ""


_markdown = MarkdownIt("commonmark", {"html": False, "linkify": True, "highlight": _highlighted})
_markdown.enable(["table", "strikethrough", "linkify"]).disable("image")


@lru_cache(maxsize=2048)
def render(text: str) -> SafeString:
    """Markdown to HTML that can hold no script, no style, and nothing fetched from elsewhere."""
    clean = nh3.clean(
        _markdown.render(text),
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )
    return mark_safe(clean)
