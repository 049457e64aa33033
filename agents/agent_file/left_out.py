"""What of a file's messages was left out or changed, in words."""

from __future__ import annotations

from django.utils.translation import ngettext, ngettext_lazy

from agents.text.numbers import whole

from .reading import Notes

LEFT_OUT = {
    "missing": ngettext_lazy(
        "%(shown)s message of the context is missing in the file.",
        "%(shown)s messages of the context are missing in the file.",
        "count",
    ),
    "compiled": ngettext_lazy(
        "%(shown)s message held the compiled system prompt: left out; it is compiled again here.",
        "%(shown)s messages held the compiled system prompt: left out; it is compiled again here.",
        "count",
    ),
    "notices": ngettext_lazy(
        "%(shown)s message held a heartbeat or a login: left out; agents here need none.",
        "%(shown)s messages held a heartbeat or a login: left out; agents here need none.",
        "count",
    ),
    "summaries": ngettext_lazy(
        "%(shown)s message held an older summary: left out, because the newest one replaces it.",
        "%(shown)s messages held an older summary: left out, because the newest one replaces it.",
        "count",
    ),
    "decisions": ngettext_lazy(
        "%(shown)s message approved or refused a tool call: left out.",
        "%(shown)s messages approved or refused a tool call: left out.",
        "count",
    ),
    "roles": ngettext_lazy(
        "%(shown)s message had an unknown role: left out.",
        "%(shown)s messages had an unknown role: left out.",
        "count",
    ),
    "pictures": ngettext_lazy(
        "%(shown)s message held a file, or an image that cannot be read here: left out.",
        "%(shown)s messages held a file, or an image that cannot be read here: left out.",
        "count",
    ),
    "images": ngettext_lazy(
        "%(shown)s message had images that only a person's has, or over %(most)s: left out.",
        "%(shown)s messages had images that only a person's has, or over %(most)s: left out.",
        "count",
    ),
    "hidden": ngettext_lazy(
        "%(shown)s message held reasoning that its provider does not disclose: it cannot be shown.",
        "%(shown)s messages held reasoning that its provider does not disclose: it cannot be"
        " shown.",
        "count",
    ),
    "twice": ngettext_lazy(
        "%(shown)s message called tools twice under one id: only the first call was imported.",
        "%(shown)s messages called tools twice under one id: only the first call was imported.",
        "count",
    ),
    "names": ngettext_lazy(
        "%(shown)s message called tools by names that no endpoint accepts: other characters"
        " became '_'.",
        "%(shown)s messages called tools by names that no endpoint accepts: other characters"
        " became '_'.",
        "count",
    ),
}


def note_calls(notes: Notes, lost: int, added: int, changed: int) -> None:
    """Note how many returns had no call, calls had no return, and ids of calls were changed."""
    if lost:
        words = ngettext(
            "%(count)s tool return answered no call in the file: left out.",
            "%(count)s tool returns answered no call in the file: left out.",
            lost,
        )
        notes.add(words % {"count": whole(lost)})
    if added:
        words = ngettext(
            "%(count)s tool call had no return: one that says so was added.",
            "%(count)s tool calls had no return: one that says so was added.",
            added,
        )
        notes.add(words % {"count": whole(added)})
    if changed:
        words = ngettext(
            "%(count)s tool call got another id here: endpoints accept only short ids of letters"
            " and digits, each of them once.",
            "%(count)s tool calls got another id here: endpoints accept only short ids of letters"
            " and digits, each of them once.",
            changed,
        )
        notes.add(words % {"count": whole(changed)})
