"""JSON as a person reads it."""

from __future__ import annotations

import json
import re
from typing import Any

from .cache import cached_by_text

LINE_BREAK = re.compile(r"(?<!\\)((?:\\\\)*\\n)")
LONGEST = 100_000  # characters of JSON that are laid out
GROWTH = 4  # times as long, at most, and:
ROOM = 10_000  # so many characters more; deep nesting grows by the square of its depth


@cached_by_text(len)
def pretty(text: str) -> str:
    """JSON with one name a line; as it stands where it is none, is too long or nested too deep."""
    if len(text) > LONGEST:
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return laid_out(value, GROWTH * len(text) + ROOM) or text


def pretty_value(value: Any) -> str:
    """A value as JSON, with a line break after each that is written `\\n` in a text."""
    plain = json.dumps(value, ensure_ascii=False)
    short = len(plain) <= LONGEST
    laid = laid_out(value, GROWTH * len(plain) + ROOM) if short else None
    return LINE_BREAK.sub("\\1\n", laid or plain)


def laid_out(value: Any, most: int) -> str | None:
    """A value with one name a line; None where that takes more than so many characters."""
    found: list[str] = []
    try:
        for part in json.JSONEncoder(indent=2, ensure_ascii=False).iterencode(value):
            found.append(part)
            most -= len(part)
            if most < 0:
                return None
    except (ValueError, RecursionError):
        return None
    return "".join(found)
