"""Changes to the text of a block's value; each says in words why it cannot be made."""

from __future__ import annotations

import re

from .editing import MemoryRefusal


def inserted(label: str, value: str, content: str, line: int) -> str:
    """`value` with `content` below line number `line`: 0 is above the first, -1 below the last."""
    lines = value.split("\n") if value else []
    if not -1 <= line <= len(lines):
        raise MemoryRefusal(
            f"Block '{label}' has {len(lines)} lines; insert_line is 0 (above the first) to"
            f" {len(lines)}, or -1 (below the last)."
        )
    place = len(lines) if line == -1 else line
    return "\n".join([*lines[:place], content, *lines[place:]])


def replaced(label: str, value: str, old: str, new: str) -> str:
    """`value` with `new` in every place where `old` stands."""
    if not old:
        raise MemoryRefusal(
            "The text to replace is empty; give the exact words to replace, or append instead."
        )
    if old not in value:
        raise MemoryRefusal(
            f"'{old}' does not occur in block '{label}'; its value is now:\n{value}"
        )
    return value.replace(old, new)


def replaced_once(label: str, value: str, old: str, new: str) -> str:
    """`value` with `new` in the one place where `old` stands."""
    places = [match.start() for match in re.finditer(re.escape(old), value)] if old else []
    if len(places) > 1:
        lines = ", ".join(str(value.count("\n", 0, place) + 1) for place in places[:20])
        raise MemoryRefusal(
            f"'{old}' occurs {len(places)} times in block '{label}', in lines {lines}; give more of"
            " the text around the one you mean."
        )
    return replaced(label, value, old, new)
