"""Lines of a block that say the same: pointed out, never merged."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

ALIKE = 0.9  # of 1: from here on two lines count as the same
SHORTEST = 4  # characters, normalised; shorter lines are headings and marks
MOST_LINES = 300  # the newest of a longer block are compared
LONGEST = 500  # characters of a line that are compared
MARKS = re.compile(r"^[\s\-*•+>#]+|^\d+[.)]\s+|[^\w\s]")


def normalised(line: str) -> str:
    """A line without bullets, punctuation, case and double spaces."""
    return " ".join(MARKS.sub(" ", line).casefold().split())[:LONGEST]


def alike(one: str, other: str) -> bool:
    """Whether two normalised lines say the same, or nearly.

    Nearly is not enough where they differ in a number: "born in 1971" and "born in 1972".
    """
    if one == other:
        return True
    if re.findall(r"\d+", one) != re.findall(r"\d+", other):
        return False
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    bounds = matcher.real_quick_ratio() >= ALIKE and matcher.quick_ratio() >= ALIKE
    return bounds and matcher.ratio() >= ALIKE


def duplicates(value: str) -> dict[int, int]:
    """Each line that repeats an earlier one → the earlier one, as indexes of lines."""
    lines = value.split("\n")
    first = max(0, len(lines) - MOST_LINES)
    seen: list[tuple[int, str]] = []
    found: dict[int, int] = {}
    for index in range(first, len(lines)):
        line = normalised(lines[index])
        if len(line) < SHORTEST:
            continue
        earlier = next((place for place, other in seen if alike(line, other)), None)
        if earlier is None:
            seen.append((index, line))
        else:
            found[index] = earlier
    return found


def new_duplicates(before: str, after: str) -> list[tuple[str, str]]:
    """The pairs of lines alike, `(earlier, later)`, that a change of a value brought about."""
    lines = after.split("\n")
    pairs = {(lines[earlier], lines[later]) for later, earlier in duplicates(after).items()}
    old = before.split("\n")
    known = {(old[earlier], old[later]) for later, earlier in duplicates(before).items()}
    return sorted(pairs - known)
