"""What a model wrote, as HTML. The one place where model text becomes markup, and is sanitised.

Read by cmark-gfm, GitHub's parser in C, which takes linear time over any text and lets other
threads run meanwhile. What its HTML would be too much for, is shown as it was written.
"""

from __future__ import annotations

import re
from html import unescape

import cmarkgfm
import nh3
from cmarkgfm.cmark import Options
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from .cache import cached_by_text
from .highlight import Highlighter

TAGS = {
    *("a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr"),
    *("li", "ol", "p", "pre", "s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr"),
    "ul",
}
ATTRIBUTES = {"a": {"href", "title"}, "span": {"class"}, "code": {"class"}, "ol": {"start"}}
EXTENSIONS = ["table", "strikethrough", "autolink"]
OPTIONS = Options.CMARK_OPT_STRIKETHROUGH_DOUBLE_TILDE  # "~5" is a number, not half a line

LONGEST = 100_000  # characters that are laid out; longer texts are shown as they are
GROWTH = 10  # times as long the HTML may be, and so much more: a table fills up its rows
ROOM = 10_000
DEEPEST = 100  # quotes and lists in each other, and emphasis in them

# HTML is shown as the text it is: where a tag could begin, a character stands that no text holds.
TAG = re.compile(r"(?<!\\)(\\*+)<(?=[A-Za-z/!?])(?!(?:https?:|mailto:|[\w.+-]++@))", re.IGNORECASE)
LESS = "\ufdd0"
IMAGE = re.compile(r'<img src="([^"]*)" alt="([^"]*)"(?: title="[^"]*")? />')
CODE = re.compile(r'(<pre><code class="language-([^"\s]+)[^"]*">)([^<]*)</code></pre>')
NESTING = re.compile(r"<(/?)(?:blockquote|ul|ol|em|strong|del)\b")


@cached_by_text(len)
def render(text: str) -> SafeString:
    """Markdown to HTML that can hold no script, no style, and nothing fetched from elsewhere."""
    if len(text) > LONGEST:
        return as_written(
            text, f"it has {len(text):,} characters; at most {LONGEST:,} are formatted"
        )
    html = parsed(text)
    if len(html) > GROWTH * len(text) + ROOM:
        return as_written(text, "its layout would be many times as long")
    if deep(html):
        return as_written(text, "it is nested too deeply")
    highlighter = Highlighter()
    html = CODE.sub(
        lambda found: f"{found[1]}{highlighter.html(unescape(found[3]), found[2])}</code></pre>",
        html,
    )
    clean = nh3.clean(
        html,
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )
    return mark_safe(clean)


def parsed(text: str) -> str:
    """What cmark makes of Markdown, with tags shown and images linked to."""
    text = text.encode("utf-8", "replace").decode().replace(LESS, "\ufffd")
    text = TAG.sub(lambda found: found[1] + ("<" if len(found[1]) % 2 else LESS), text)
    html: str = cmarkgfm.markdown_to_html_with_extensions(text, OPTIONS, EXTENSIONS)
    html = html.replace(LESS, "&lt;").replace("%EF%B7%90", "%3C")
    return IMAGE.sub(r'!<a href="\1">\2</a>', html)


def deep(html: str) -> bool:
    """Whether more is nested than a browser should be given."""
    depth = 0
    for found in NESTING.finditer(html):
        depth += -1 if found[1] else 1
        if depth > DEEPEST:
            return True
    return False


def as_written(text: str, why: str) -> SafeString:
    """A text that is not laid out, and why."""
    return format_html(
        '<p class="note">This text is shown as it was written: {}.</p>\n'
        '<pre class="as-written">{}</pre>',
        why,
        text,
    )
