"""Template tags: how text, times and changes are shown."""

from __future__ import annotations

from datetime import datetime
from zlib import crc32

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from agents.models import Block, BlockEdit, Run, ToolCall
from agents.runs.ways_on import Fault, fault_of
from agents.text import markdown as md
from agents.text.diff import Lines, Piece, lines_changed
from agents.tools import arguments_of

register = template.Library()
HUES = 12


@register.filter
def markdown(text: str) -> SafeString:
    """What a model wrote, as sanitised HTML."""
    return md.render(text)


@register.filter
def words(text: str) -> list[str]:
    return text.split()


@register.filter
def hue(label: str) -> str:
    """A block's colour, told from its label: the class `hue-0` to `hue-11`."""
    return f"hue-{crc32(label.encode()) % HUES}"


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


@register.filter
def marked(block: Block) -> list[Piece]:
    """A block's value with what its newest edit changed."""
    if block.newest_edit:
        return block.newest_edit.pieces()
    return [Piece("same", block.value)] if block.value else []


@register.filter
def fault(run: Run) -> Fault | None:
    """What may be left out of what is sent for a run that failed."""
    return fault_of(run)


@register.filter
def said(call: ToolCall) -> str:
    """What a send_message call says."""
    return str(arguments_of(call.arguments).get("message", ""))


@register.simple_tag
def when(moment: datetime) -> SafeString:
    """A time, which the page shows relative to now."""
    exact = timezone.localtime(moment)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        exact.isoformat(timespec="seconds"),
        exact.strftime("%-d %B %Y, %H:%M:%S %Z"),
        exact.strftime("%H:%M"),
    )
