"""What a model wrote, as HTML. The one place where model text becomes markup, and is sanitised.

Read by cmark-gfm, GitHub's parser in C, which takes linear time over any text and lets other
threads run meanwhile. What its HTML would be too much for, is shown as it was written.
"""

from __future__ import annotations

import re
from html import unescape
from zlib import crc32

import cmarkgfm
import nh3
from cmarkgfm.cmark import Options
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, pgettext

from .cache import cached_by_text
from .formulas import BEGIN, END, FURTHER, Formulas
from .highlight import Highlighter
from .numbers import whole

TAGS = {
    *("a", "blockquote", "br", "button", "code", "del", "div", "em", "h1", "h2", "h3", "h4", "h5"),
    *("h6", "hr", "li", "ol", "p", "pre", "s", "section", "span", "strong", "sup", "table"),
    *("tbody", "td", "th", "thead", "tr", "ul"),
    *("math", "menclose", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded"),
    *("mphantom", "mprescripts", "mroot", "mrow", "ms", "mspace", "msqrt", "mstyle", "msub"),
    *("msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder", "munderover"),
}
ATTRIBUTES = {
    "a": {"href", "title", "id", "aria-label"},
    "span": {"class", "role", "aria-label"},
    "code": {"class"},
    "ol": {"start"},
    "li": {"id"},
    "math": {"display"},
    "mfrac": {"linethickness", "displaystyle"},
    "mi": {"mathvariant"},
    "mo": {"form", "lspace", "rspace", "maxsize", "minsize", "movablelimits", "stretchy"},
    "mover": {"accent"},
    "mspace": {"width"},
    "mstyle": {"displaystyle", "scriptlevel"},
    "mtable": {"displaystyle", "scriptlevel"},
    "munder": {"accentunder"},
    "menclose": {"notation"},
}
CLASSES = {
    "div": {"code", "code-head", "wide"},
    "button": {"copy-code"},
    "section": {"footnotes"},
    "sup": {"footnote-ref"},
    "li": {"task"},
    **{key: {"to-left", "to-center", "to-right"} for key in ("td", "th", "mtd")},
}
DIRECTED = ("p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "td", "th")  # by what they say
EXTENSIONS = ["table", "strikethrough", "autolink", "tasklist"]
OPTIONS = (
    Options.CMARK_OPT_STRIKETHROUGH_DOUBLE_TILDE  # "~5" is a number, not half a line
    | Options.CMARK_OPT_FOOTNOTES
)

LONGEST = 100_000  # characters that are laid out; longer texts are shown as they are
GROWTH = 10  # times as long the HTML may be, and so much more: a table fills up its rows
ROOM = 10_000
DEEPEST = 100  # quotes and lists in each other, and emphasis in them

# HTML is shown as the text it is: where a tag could begin, a character stands that no text holds.
TAG = re.compile(r"(?<!\\)(\\*+)<(?=[A-Za-z/!?])(?!(?:https?:|mailto:|[\w.+-]++@))", re.IGNORECASE)
LESS = "\ufdd0"
SPECIAL = re.compile(f"[{LESS}{BEGIN}{END}{FURTHER}]")
IMAGE = re.compile(r'<img src="([^"]*)" alt="([^"]*)"(?: title="[^"]*")? />')
CODE = re.compile(r'<pre><code(?: class="language-([^"\s]+)[^"]*")?>([^<]*)</code></pre>')
NESTING = re.compile(r"<(/?)(?:blockquote|ul|ol|em|strong|del)\b")
FOOTNOTE = re.compile(r'\b(id="|href="#)(?=fn(?:ref)?-)')
TASK = re.compile(r'<li><input type="checkbox"( checked="")? disabled="" />')
TASK_BOX = '<li class="task"><span role="img" aria-label="{}" class="{}"></span>'


@cached_by_text(len, has_words=True)
def render(text: str) -> SafeString:
    """Markdown to HTML that can hold no script, no style, and nothing fetched from elsewhere."""
    if len(text) > LONGEST:
        why = gettext(
            "This text is shown as it was written: it has %(count)s characters; at most %(most)s"
            " are formatted."
        )
        return as_written(text, why % {"count": whole(len(text)), "most": whole(LONGEST)})
    text = without_special(text)
    formulas = Formulas(text)
    html = parsed(formulas.text)
    if len(html) > GROWTH * len(text) + ROOM:
        why = gettext(
            "This text is shown as it was written: its layout would be many times as long."
        )
        return as_written(text, why)
    if deep(html):
        why = gettext("This text is shown as it was written: it is nested too deeply.")
        return as_written(text, why)
    html = with_code(formulas.put_in(with_parts(html, crc32(text.encode()))))
    return mark_safe(
        nh3.clean(
            html,
            tags=TAGS,
            attributes=ATTRIBUTES,
            allowed_classes=CLASSES,
            tag_attribute_values={"button": {"type": {"button"}}},
            set_tag_attribute_values={tag: {"dir": "auto"} for tag in DIRECTED},
            url_schemes={"http", "https", "mailto"},
            link_rel="noopener noreferrer nofollow",
        )
    )


def without_special(text: str) -> str:
    """A text that can be encoded, without the characters that stand for something here."""
    return SPECIAL.sub("\ufffd", text.encode("utf-8", "replace").decode())


def parsed(text: str, options: int = OPTIONS) -> str:
    """What cmark makes of Markdown, with tags shown and images linked to."""
    text = TAG.sub(lambda found: found[1] + ("<" if len(found[1]) % 2 else LESS), text)
    html: str = cmarkgfm.markdown_to_html_with_extensions(text, options, EXTENSIONS)
    html = html.replace(LESS, "&lt;").replace("%EF%B7%90", "%3C")
    return IMAGE.sub(r'!<a href="\1">\2</a>', html)


def with_parts(html: str, number: int) -> str:
    """cmark's HTML with our form of tables, tasks and footnotes, whose names hold the number, as a
    page shows several texts."""
    html = html.replace("<table>", '<div class="wide"><table>').replace(
        "</table>", "</table></div>"
    )
    for side in ("left", "center", "right"):
        html = html.replace(f' align="{side}"', f' class="to-{side}"')
    html = TASK.sub(lambda found: task_box(is_done=bool(found[1])), html)
    return FOOTNOTE.sub(rf"\g<1>{number:x}-", html)


def task_box(*, is_done: bool) -> str:
    if is_done:
        return TASK_BOX.format(escape(pgettext("task", "Done")), "box done")
    return TASK_BOX.format(escape(pgettext("task", "To do")), "box")


def with_code(html: str) -> str:
    """HTML whose code has colours, the name of its language, and a button that copies it."""
    highlighter, copy = Highlighter(), escape(gettext("Copy"))

    def drawn(found: re.Match[str]) -> str:
        language, code = found[1] or "", found[2]
        name = f"<span>{language}</span>" if language else ""
        kind = f' class="language-{language}"' if language else ""
        return (
            f'<div class="code"><div class="code-head">{name}'
            f'<button type="button" class="copy-code">{copy}</button></div>'
            f"<pre><code{kind}>{highlighter.html(unescape(code), language)}</code></pre></div>"
        )

    return CODE.sub(drawn, html)


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
    return format_html('<p class="note">{}</p>\n<pre class="as-written">{}</pre>', why, text)
