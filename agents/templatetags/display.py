"""Template filters: how text, times and changes are shown."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, cast
from zlib import crc32

from django import template
from django.template import Context
from django.utils import timezone
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from agents.live import fragments
from agents.models import BlockEdit, Editor, Passage, Run, ToolCall
from agents.runs.ways_on import Fault, fault_of
from agents.text import markdown as md
from agents.text.diff import Lines, Piece, lines_changed
from agents.tools import arguments_of

register = template.Library()
HUES = 12
ELEMENTS = {"added": "ins", "removed": "del"}
REPEAT = (
    '<span class="repeat" title="says the same as line {0}"><span aria-hidden="true">≈ {0}</span>'
    '<span class="visually-hidden"> (says the same as line {0})</span></span>'
)
SOURCES = {Editor.ADMIN: "admin", Editor.API: "API", Editor.IMPORT: "import"}


@register.filter
def markdown(text: str) -> SafeString:
    """What a model wrote, as sanitised HTML."""
    return md.render(text)


@register.filter
def days(count: float) -> str:
    """A number of days, in words."""
    return "1 day" if count == 1 else f"{count:g} days"


@register.filter
def words(text: str) -> list[str]:
    """The words of a text, for a loop."""
    return text.split()


@register.filter
def hue(label: str) -> str:
    """The class of a block's colour, which follows from its label: `hue-0` to `hue-11`."""
    return f"hue-{crc32(label.encode()) % HUES}"


@register.filter
def colour(part: Any) -> str:
    """The class of the colour of a part of the context: the block's, or the part's own."""
    return hue(part.label) if part.label else f"of-{part.key}"


@register.filter
def button_style(tags: Collection[str] | None) -> str:
    """The classes of a button of allauth's pages, which has tags that say what it is for."""
    tags = set(tags or ())
    if "danger" in tags:
        return "quiet danger"
    return "quiet" if tags & {"secondary", "outline", "cancel"} else ""


# -- changes ---------------------------------------------------------------------------------------


@register.filter
def lines(edit: BlockEdit) -> Lines:
    """The lines an edit changed."""
    return lines_changed(edit.before, edit.after)


@register.filter
def change_lines(change: dict[str, str]) -> Lines:
    """The lines that a change would touch."""
    return lines_changed(change["before"], change["after"])


@register.filter
def change_size(edit: BlockEdit) -> str:
    """How many lines an edit changed: `+1`, `−2` or `±1`, with the word."""
    changed = lines_changed(edit.before, edit.after)
    sign = "±" if changed.added and changed.removed else "+" if changed.added else "−"
    most = max(changed.added, changed.removed)
    return f"{sign}{most} line{'' if most == 1 else 's'}"


def piece_html(piece: Piece) -> str:
    """A piece of a diff, escaped: `<ins>` if it was added, `<del>` if it was removed."""
    if piece.kind == "repeat":
        return REPEAT.format(escape(piece.text))
    name = ELEMENTS.get(piece.kind)
    return f"<{name}>{escape(piece.text)}</{name}>" if name else escape(piece.text)


@register.filter
def diff_html(pieces: Iterable[Piece], empty: str = "") -> SafeString:
    """A diff as HTML; where it has no text, the word for that."""
    html = "".join(map(piece_html, pieces))
    return mark_safe(html or f'<span class="none">{escape(empty)}</span>')


@register.filter
def lines_html(pieces: Iterable[Piece]) -> SafeString:
    """A diff whose pieces are whole lines: a `<span>` each, of the class `added` or `removed`."""
    parts = []
    for piece in pieces:
        name = f' class="{piece.kind}"' if piece.kind in ELEMENTS else ""
        parts.append(f"<span{name}>{escape(piece.text)}</span>")
    return mark_safe("".join(parts))


@register.filter
def editor(written: BlockEdit | Passage) -> str:
    """Who wrote it, and from where if that was not the page."""
    source = SOURCES.get(written.editor_kind)
    return f"{written.editor_name} ({source})" if source else written.editor_name


@register.filter
def fault(run: Run) -> Fault | None:
    """What may be left out of what is sent for a run that failed."""
    return fault_of(run)


@register.filter
def message_sent(call: ToolCall) -> str:
    """The message of a send_message call."""
    return str(arguments_of(call.arguments).get("message", ""))


@register.simple_tag(takes_context=True)
def fragment(context: Context, name: str, **given: Any) -> SafeString:
    """What a socket sends of the page, drawn from the same template."""
    return mark_safe(fragments.drawn(name, **cast("dict[str, Any]", context.flatten()) | given))


@register.simple_tag
def when(moment: datetime) -> SafeString:
    """A time; a script on the page shows it relative to now."""
    exact = timezone.localtime(moment)
    return mark_safe(
        f'<time datetime="{exact.isoformat(timespec="seconds")}"'
        f' title="{exact:%-d %B %Y, %H:%M:%S %Z}">{exact:%H:%M}</time>'
    )
