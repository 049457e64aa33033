"""Template filters: how text, times and changes are shown."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any, cast
from zlib import crc32

from django import template
from django.template import Context
from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, gettext, ngettext, pgettext_lazy

from agents.live import fragments
from agents.llm import resolve
from agents.llm.endpoints import ModelError
from agents.memory.gallery import CHAT_TRIES, Examples, examples
from agents.models import Agent, BlockEdit, Conversation, Editor, Passage, Run, ToolCall
from agents.runs.ways_on import Fault, fault_of
from agents.text import finished, stored
from agents.text import markdown as md
from agents.text import marks as marking
from agents.text.browsers import browser_name
from agents.text.diff import Lines, Piece, lines_changed
from agents.text.finished import SoFar
from agents.text.glossary import explanation
from agents.tools import arguments_of

register = template.Library()
HUES = 12
TITLE_CASE = re.compile(r"\b[A-Z](?=[a-z]+\b)")
ELEMENTS = {"added": "ins", "removed": "del"}
REPEAT = (
    '<span class="repeat" title="{words}"><span aria-hidden="true">≈ {line}</span>'
    '<span class="visually-hidden"> ({words})</span></span>'
)
SOURCES = {
    Editor.ADMIN: pgettext_lazy("from where it was written", "admin"),
    Editor.API: pgettext_lazy("from where it was written", "API"),
    Editor.IMPORT: pgettext_lazy("from where it was written", "import"),
}


@register.filter
def markdown(text: str) -> SafeString:
    """What a model wrote, as sanitised HTML."""
    return md.render(text)


def model_in_use(conversation: Conversation) -> str:
    """The name of the model that answers, as far as it is known without asking an endpoint."""
    agent = conversation.agent
    if handle := conversation.model or agent.model:
        return handle
    try:
        return resolve("", agent.owner_id, ask=False)[1]
    except ModelError:
        return gettext("default model")


def tries_of(agent: Agent) -> Examples:
    """What a person may say to an agent that was told nothing."""
    return examples(CHAT_TRIES, agent.owner_id, agent.model)


@register.filter
def so_far(text: str) -> SoFar:
    """What is drawn of a text that a model is still writing."""
    return finished.so_far(text)


@register.filter
def translated(sentence: str) -> str:
    """A sentence that is stored in English, in the language of the page if it is a marked one."""
    return stored.translated(sentence)


@register.filter
def days(count: float) -> str:
    """A number of days, in words."""
    number = int(count) if count == int(count) else 2  # what is no whole number has a plural
    shown = number_format(f"{count:g}", use_l10n=True)
    return ngettext("%(count)s day", "%(count)s days", number) % {"count": shown}


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


@register.filter(is_safe=True)
def sentence_case(text: str) -> str:
    """A heading or a button of allauth's English pages as ours are written: "Add email address"."""
    if get_language() != "en" or "<" in text:
        return text
    first, space, rest = text.strip().partition(" ")
    return first + space + TITLE_CASE.sub(lambda word: word[0].lower(), rest)


@register.filter
def browser(user_agent: str) -> str:
    """The browser and the system that a User-Agent names, as people call them."""
    return browser_name(user_agent)


@register.simple_tag
def term(name: str, shown: str = "") -> SafeString:
    """A term of the glossary as it stands in a sentence, explained on hover, focus and touch."""
    return format_html(
        '<button type="button" class="term" data-term title="{}">{}</button>',
        explanation(name),
        shown or gettext(name),
    )


@register.simple_tag
def explained(name: str) -> SafeString:
    """The attributes of an element that is a term by itself and does something else, as a tab."""
    return format_html('data-term title="{}"', explanation(name))


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
    return ngettext("%(count)s line", "%(count)s lines", most) % {"count": f"{sign}{most}"}


def piece_html(piece: Piece) -> str:
    """A piece of a diff, escaped: `<ins>` if it was added, `<del>` if it was removed."""
    if piece.kind == "repeat":
        words = gettext("says the same as line %(line)s") % {"line": piece.text}
        return REPEAT.format(words=escape(words), line=escape(piece.text))
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
def marks(pieces: Iterable[marking.Piece]) -> SafeString:
    """A text in which the words that were looked for are marked."""
    parts = (f"<mark>{escape(text)}</mark>" if hit else escape(text) for text, hit in pieces)
    return mark_safe("".join(parts))


@register.filter
def editor(written: BlockEdit | Passage) -> str:
    """Who wrote it, and from where if that was not the page."""
    source = SOURCES.get(written.editor_kind)
    return f"{written.editor_name} ({source})" if source else written.editor_name


@register.filter
def in_words(by: str) -> str:
    """The same of `kind:name`, as the History tab filters by it."""
    kind, _, name = by.partition(":")
    return f"{name} ({SOURCES[kind]})" if kind in SOURCES else name


@register.filter
def fault(run: Run) -> Fault | None:
    """What may be left out of what is sent for a run that failed."""
    found = fault_of(run)
    return found and replace(found, named=stored.translated(found.named))


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
    title = date_format(exact, "EXACT_FORMAT")
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        exact.isoformat(timespec="seconds"),
        title,
        date_format(exact, "TIME_FORMAT"),
    )
