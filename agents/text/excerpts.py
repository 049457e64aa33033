"""Excerpts: what a long text comes to where there is little room, without a model."""

from __future__ import annotations

import re
from collections.abc import Sequence

SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")


def cut(text: str, most: int) -> str:
    """At most so many characters, with a mark where the rest is missing."""
    return text if len(text) <= most else f"{text[: max(most - 1, 0)]}…"


def sampled(pieces: Sequence[str], most: int, piece: int) -> str:
    """Pieces from the whole of a text, evenly: at most `most` characters, `piece` of each.

    A line says how many of them are not there.
    """
    short = [cut(" ".join(each.split()), piece) for each in pieces]
    if sum(map(len, short)) + len(short) <= most:
        return "\n".join(short)
    count = len(short)
    while count > 1:
        places = {round(place * (len(short) - 1) / (count - 1)) for place in range(count)}
        note = f"({len(short) - len(places):,} of {len(short):,} pieces are left out here.)"
        text = "\n".join([note, *(short[place] for place in sorted(places))])
        if len(text) <= most:
            return text
        count = min(count - 1, int(count * most / len(text)))
    return cut(short[-1], most)


def shortened(text: str, most: int) -> str:
    """A text in at most so many characters: sentences from the whole of it, evenly."""
    if len(text) <= most:
        return text
    return sampled([each for each in SENTENCE.split(text) if each], most, max(most // 4, 40))


def first_words(text: str, most: int = 60) -> str:
    """The beginning of a text in one line, for a title: whole words, at most so many characters."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    words = line[: most - 1].rsplit(" ", 1)[0] if " " in line[: most - 1] else line[: most - 1]
    return f"{words}…"
