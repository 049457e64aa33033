"""Lines of a block that say the same: pointed out, never merged."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache

from rapidfuzz.distance import Indel
from rapidfuzz.process import extractOne

from .cache import cached_by_text
from .diff import differing

ALIKE = 0.9  # of 1: from here on two lines count as the same
SHORTEST = 4  # characters, normalised; shorter lines are headings and marks
MOST_LINES = 300  # the newest of a longer block are compared
MOST_CHANGED = 40  # lines that are compared one by one; of more, all are
LONGEST = 500  # characters of a line that are compared
MARKS = re.compile(r"^[\s\-*•+>#]+|^\d+[.)]\s+|[^\w\s]")

Repeats = dict[int, int]  # a line → the earlier line that it repeats, as indexes
Numbers = tuple[str, ...]


def normalised(line: str) -> str:
    """A line without bullets, punctuation, case and double spaces."""
    return " ".join(MARKS.sub(" ", line[: 4 * LONGEST]).casefold().split())[:LONGEST]


@lru_cache(maxsize=4096)
def compared(line: str) -> tuple[str, Numbers]:
    """What is compared of a line: its normalised text, and the numbers in it.

    Lines with other numbers are never the same: "born in 1971" and "born in 1972".
    """
    text = normalised(line)
    return text, tuple(re.findall(r"\d+", text))


class DistinctLines:
    """Some of a text's lines, none of which repeats another."""

    def __init__(self) -> None:
        self.texts: dict[Numbers, dict[int, str]] = defaultdict(dict)

    def add(self, index: int, line: str) -> None:
        text, numbers = compared(line[: 4 * LONGEST])
        if len(text) >= SHORTEST:
            self.texts[numbers][index] = text

    def most_similar(self, line: str, before: int | None = None) -> int | None:
        """The line that says what this one says, `before` an index; None where none does."""
        text, numbers = compared(line[: 4 * LONGEST])
        lines = self.texts[numbers]
        if before is not None:
            lines = {at: each for at, each in lines.items() if at < before}
        return _most_similar(text, lines)

    def take_repeats(self, index: int, line: str) -> list[int]:
        """The later lines that say what this one says; they are no longer among these."""
        text, numbers = compared(line[: 4 * LONGEST])
        later = {at: each for at, each in self.texts[numbers].items() if at > index}
        found: list[int] = []
        while (at := _most_similar(text, later)) is not None:
            found.append(at)
            del later[at], self.texts[numbers][at]
        return found


def _most_similar(text: str, lines: dict[int, str]) -> int | None:
    if len(text) < SHORTEST or not lines:
        return None
    found = extractOne(text, lines, scorer=Indel.normalized_similarity, score_cutoff=ALIKE)
    return found[2] if found else None


@cached_by_text(len)
def similar_lines(value: str) -> Repeats:
    """Each line of a text that repeats an earlier one."""
    lines = value.split("\n")
    repeats: Repeats = {}
    others = DistinctLines()
    for index in range(max(0, len(lines) - MOST_LINES), len(lines)):
        earlier = others.most_similar(lines[index])
        if earlier is None:
            others.add(index, lines[index])
        else:
            repeats[index] = earlier
    return repeats


def new_similar_lines(before: str, after: str) -> list[tuple[str, str]]:
    """The pairs of lines alike, `(earlier, later)`, that a change of a text brought about.

    What was known of the lines that stayed is used again, so that a long text costs little more.
    """
    old, new = before.split("\n"), after.split("\n")
    known = similar_lines(before)
    repeats = after_change(known, before, after, new)
    similar_lines.keep(repeats, after)
    pairs = {(new[earlier], new[later]) for later, earlier in repeats.items()}
    return sorted(pairs - {(old[earlier], old[later]) for later, earlier in known.items()})


def after_change(known: Repeats, before: str, after: str, lines: list[str]) -> Repeats:
    """The repeats of `after`, whose lines are given, from those of `before`."""
    head, tail = differing(before, after)
    start, end = after.count("\n", 0, head), len(lines) - after.count("\n", len(after) - tail)
    more = len(lines) - before.count("\n") - 1
    first = max(0, len(lines) - MOST_LINES)
    shorter = more < 0 and len(lines) - more > MOST_LINES  # so that older lines count again
    if shorter or end - start > MOST_CHANGED:
        return similar_lines(after)

    def moved(index: int) -> int | None:
        """Where a line of `before` is now; None where it changed, or is too far back."""
        if start <= index < end - more:
            return None
        now = index if index < start else index + more
        return now if now >= first else None

    repeats: Repeats = {}
    unknown = set(range(max(start, first), end))
    for later, earlier in known.items():
        if (now := moved(later)) is not None:
            if (its := moved(earlier)) is None:
                unknown.add(now)
            else:
                repeats[now] = its
    others = DistinctLines()
    for index in range(first, len(lines)):
        if index not in repeats and index not in unknown:
            others.add(index, lines[index])
    look_up(unknown, others, lines, repeats)
    return dict(sorted(repeats.items()))


def look_up(unknown: set[int], others: DistinctLines, lines: list[str], repeats: Repeats) -> None:
    """Find what each unknown line repeats, if any; lines that repeated a later one are looked up
    again."""
    while unknown:
        index = min(unknown)
        unknown.remove(index)
        if (similar := others.most_similar(lines[index], index)) is not None:
            repeats[index] = similar
            continue
        taken = others.take_repeats(index, lines[index])
        repeats |= dict.fromkeys(taken, index)
        for later in [later for later, earlier in repeats.items() if earlier in taken]:
            del repeats[later]
            unknown.add(later)
        others.add(index, lines[index])
