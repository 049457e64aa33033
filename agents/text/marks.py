"""Marks: where a text holds the words that somebody looks for."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from .folding import folded, lowered, unspaced
from .terms import MARKS, Query

WORD = re.compile(r"[^\W_]+(?:[\u0300-\u036f]+[^\W_]*)*")
AROUND = 60  # characters before the first word that is found


class Piece(NamedTuple):
    """A part of a text; `is_hit` where it is a word that was looked for."""

    text: str
    is_hit: bool


def beginnings(query: Query) -> set[str]:
    """What the forms of each word of a query begin with: the word, or a stem that is shorter."""
    return {min((form.lstrip(MARKS) for form in forms), key=len) for forms in query.words}


def marked(text: str, looked_for: Collection[str]) -> list[Piece]:
    """A text in pieces: words that begin with one of those looked for, and what is between."""
    pieces, end = [], 0
    for start, stop in places(text, looked_for):
        if start > end:
            pieces.append(Piece(text[end:start], False))
        pieces.append(Piece(text[start:stop], True))
        end = stop
    return [*pieces, Piece(text[end:], False)] if end < len(text) else pieces


def places(text: str, looked_for: Collection[str]) -> list[tuple[int, int]]:
    """Where words stand that begin with one of those looked for; in scripts that put no space
    between words, any place."""
    spaced = tuple(each for each in looked_for if not unspaced.search(each))
    others = sorted((re.escape(each) for each in looked_for if unspaced.search(each)), key=len)
    found = [
        word.span() for word in WORD.finditer(text) if folded(lowered(word[0])).startswith(spaced)
    ]
    if others:
        found += [hit.span() for hit in re.finditer("|".join(reversed(others)), text)]
    apart: list[tuple[int, int]] = []
    for start, stop in sorted(found):
        if not apart or start >= apart[-1][1]:
            apart.append((start, stop))
    return apart


def excerpt(text: str, looked_for: Collection[str], size: int) -> list[Piece]:
    """One line of a text around the first word looked for, in pieces."""
    line = " ".join(text[: 200 * size].split())
    first = next(iter(places(line, looked_for)), (0, 0))[0]
    start = max(0, min(first - AROUND, len(line) - size))
    if start:
        start = line.find(" ", start, first) + 1 or start
    shown = line[start : start + size]
    ends = "…" if start + size < len(line) or len(text) > 200 * size else ""
    return marked(f"{'…' if start else ''}{shown}{ends}", looked_for)
