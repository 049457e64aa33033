"""Lines of a block that say the same: pointed out, never merged."""

from __future__ import annotations

import re

from rapidfuzz.distance import Indel

from .cache import kept_by_text

ALIKE = 0.9  # of 1: from here on two lines count as the same
SHORTEST = 4  # characters, normalised; shorter lines are headings and marks
MOST_LINES = 300  # the newest of a longer block are compared
LONGEST = 500  # characters of a line that are compared
MARKS = re.compile(r"^[\s\-*•+>#]+|^\d+[.)]\s+|[^\w\s]")


def normalised(line: str) -> str:
    """A line without bullets, punctuation, case and double spaces."""
    return " ".join(MARKS.sub(" ", line[: 4 * LONGEST]).casefold().split())[:LONGEST]


class Line:
    """A normalised line that others are compared with."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.numbers = re.findall(r"\d+", text)

    def says(self, other: Line) -> bool:
        """Whether two lines say the same, or nearly.

        Nearly is not enough where they differ in a number: "born in 1971" and "born in 1972".
        """
        if self.text == other.text:
            return True
        if self.numbers != other.numbers:
            return False
        return Indel.normalized_similarity(self.text, other.text, score_cutoff=ALIKE) >= ALIKE


@kept_by_text(len)
def similar_lines(value: str) -> dict[int, int]:
    """Each line that repeats an earlier one → the earlier one, as indexes of lines."""
    lines = value.split("\n")
    first = max(0, len(lines) - MOST_LINES)
    seen: list[tuple[int, Line]] = []
    found: dict[int, int] = {}
    for index in range(first, len(lines)):
        line = Line(normalised(lines[index]))
        if len(line.text) < SHORTEST:
            continue
        earlier = next((place for place, other in seen if line.says(other)), None)
        if earlier is None:
            seen.append((index, line))
        else:
            found[index] = earlier
    return found


def new_similar_lines(before: str, after: str) -> list[tuple[str, str]]:
    """The pairs of lines alike, `(earlier, later)`, that a change of a value brought about."""
    lines = after.split("\n")
    pairs = {(lines[earlier], lines[later]) for later, earlier in similar_lines(after).items()}
    old = before.split("\n")
    known = {(old[earlier], old[later]) for later, earlier in similar_lines(before).items()}
    return sorted(pairs - known)
