"""What changed between two texts, in words and in lines."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import NamedTuple

WORDS = re.compile(r"\w+|\s+|[^\w\s]")
MOST_COMPARED = 25_000_000


class Piece(NamedTuple):
    """A stretch of text that is `same`, `added` or `removed`."""

    kind: str
    text: str


def words_changed(before: str, after: str) -> list[Piece]:
    """The difference of two texts as pieces; joining all but `removed` gives `after`."""
    old, new = WORDS.findall(before), WORDS.findall(after)
    if len(old) * len(new) > MOST_COMPARED:  # comparing takes quadratic time
        return [Piece("removed", before), Piece("added", after)]
    pieces: list[Piece] = []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            pieces.append(Piece("same", "".join(new[c:d])))
            continue
        if b > a:
            pieces.append(Piece("removed", "".join(old[a:b])))
        if d > c:
            pieces.append(Piece("added", "".join(new[c:d])))
    return pieces


def lines_changed(before: str, after: str) -> list[Piece]:
    """The difference of two texts line by line, unchanged lines left out."""
    old, new = before.split("\n"), after.split("\n")
    pieces: list[Piece] = []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            pieces += [Piece("removed", line) for line in old[a:b] if line]
            pieces += [Piece("added", line) for line in new[c:d] if line]
    return pieces
