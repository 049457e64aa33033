"""A long text cut into pieces, at the best places there are."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Before a heading, after a paragraph, a line, a sentence, a word.
PLACES = tuple(
    re.compile(place, re.MULTILINE)
    for place in (r"(?=^#{1,6} )", r"(?<=\n\n)", r"(?<=\n)", r"(?<=[.!?…。！？] )", r"(?<=\s)")
)


def cut(text: str, most: int) -> list[str]:
    """Pieces of at most so many characters, as few as there can be in their order, and none empty;
    only what has no place to be cut at is cut anywhere."""
    joined: list[str] = []
    for part in parts_of(text, most, PLACES):
        if joined and len(joined[-1]) + len(part) <= most:
            joined[-1] += part
        else:
            joined.append(part)
    return [piece for piece in map(str.strip, joined) if piece]


def parts_of(text: str, most: int, places: Sequence[re.Pattern[str]]) -> list[str]:
    """The parts of a text between places of the first kind; a longer one between those of the
    next. Together they are the text."""
    if len(text) <= most:
        return [text]
    if not places:
        return [text[start : start + most] for start in range(0, len(text), most)]
    return [
        part
        for between in places[0].split(text)
        if between
        for part in parts_of(between, most, places[1:])
    ]
