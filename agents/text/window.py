"""A part of a long text, of so many lines, with what changed in it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from django.utils.translation import gettext

from .diff import Piece, with_rest
from .numbers import whole

MOST_LINES = 12
MOST_CHARACTERS = 560
LINES_ABOVE = 2  # a change that is not among the first lines
CHARACTERS_BEFORE = 200
LONGEST_REMOVED = 300  # characters of a stretch that was deleted


class Window(NamedTuple):
    """A stretch of a text, as places in it."""

    start: int
    end: int

    def words(self, text: str) -> str:
        """`Lines 1–12 of 1,400`, or the same of characters."""
        lines = text.count("\n") + 1
        if lines <= MOST_LINES:
            words = gettext("Characters %(first)s–%(last)s of %(count)s")
            return words % in_words(self.start + 1, self.end, len(text))
        first = text.count("\n", 0, self.start) + 1
        last = text.count("\n", 0, max(self.end - 1, self.start)) + 1
        words = gettext("Lines %(first)s–%(last)s of %(count)s")
        return words % in_words(first, last, lines)


def in_words(first: int, last: int, count: int) -> dict[str, str]:
    return {"first": whole(first), "last": whole(last), "count": whole(count)}


def window_of(text: str, pieces: Iterable[Piece]) -> Window | None:
    """The first lines of a text, or those around its first change; None where it is short."""
    if len(text) <= MOST_CHARACTERS and text.count("\n") < MOST_LINES:
        return None
    end, changed = _end(text, 0), _first_change(pieces)
    if changed < end:
        return Window(0, end)
    start = changed
    for _ in range(LINES_ABOVE + 1):
        start = text.rfind("\n", 0, max(start, 0))
    start = max(start + 1, changed - CHARACTERS_BEFORE)
    return Window(start, _end(text, start))


def _end(text: str, start: int) -> int:
    end = start - 1
    for _ in range(MOST_LINES):
        end = text.find("\n", end + 1)
        if end < 0:
            return min(len(text), start + MOST_CHARACTERS)
    return min(end, start + MOST_CHARACTERS)


def _first_change(pieces: Iterable[Piece]) -> int:
    """Where in the new text something changed first; 0 where nothing did."""
    place = 0
    for piece in pieces:
        if piece.kind in ("added", "removed"):
            return place
        place += len(piece.text) if piece.kind == "same" else 0
    return 0


def within(pieces: Iterable[Piece], window: Window) -> list[Piece]:
    """The pieces that stand in a window of the new text."""
    found: list[Piece] = []
    place = 0
    for piece in pieces:
        if piece.kind in ("same", "added"):
            text = piece.text[max(window.start - place, 0) : max(window.end - place, 0)]
            place += len(piece.text)
            if text:
                found.append(Piece(piece.kind, text))
        elif window.start <= place <= window.end:
            found.append(piece)
    return found


def shortened(pieces: Iterable[Piece]) -> list[Piece]:
    """Pieces, of what was deleted only so much as is read at a glance."""
    return [_cut(piece) if piece.kind == "removed" else piece for piece in pieces]


def _cut(piece: Piece) -> Piece:
    more = len(piece.text) - LONGEST_REMOVED
    if more <= 0:
        return piece
    return Piece(piece.kind, with_rest(piece.text[:LONGEST_REMOVED], more))
