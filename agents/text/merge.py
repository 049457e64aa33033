"""Two changes of one text, made one; and a change taken out of a text that went on changing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .diff import Change, Work, changes, terminated


def merged(base: str, mine: str, theirs: str) -> tuple[str, bool]:
    """Merge two changes of `base` by lines; True if some lines hold both, to choose from.

    Changes that touch, with no unchanged line between them, are one stretch.
    """
    old, ours, others = terminated(base), terminated(mine), terminated(theirs)
    work = Work()
    lines: list[str] = []
    conflict, end = False, 0
    for start, stop, my_part, their_part in stretches(old, ours, others, work):
        lines += old[end:start]
        if my_part in (their_part, old[start:stop]):
            lines += their_part
        elif their_part == old[start:stop]:
            lines += my_part
        else:
            conflict, known = True, set(my_part)
            lines += [*my_part, *(line for line in their_part if line not in known)]
        end = stop
    return "".join([*lines, *old[end:]]).removesuffix("\n"), conflict


def stretches(
    base: Sequence[str], mine: Sequence[str], theirs: Sequence[str], work: Work
) -> Iterator[tuple[int, int, list[str], list[str]]]:
    """The stretches of `base` that one or both changed, with what each made of them."""
    sides = (mine, theirs)
    waiting = [changes(base, side, work)[::-1] for side in sides]
    shifts = [0, 0]  # where a line of the base that follows stands on each side, less its place
    while any(waiting):
        start = min(found[-1][0] for found in waiting if found)
        stop = start
        begins = [start + shift for shift in shifts]
        while touching := [n for n in (0, 1) if waiting[n] and waiting[n][-1][0] <= stop]:
            for n in touching:
                change = waiting[n].pop()
                stop = max(stop, change[1])
                shifts[n] = change[3] - change[1]
        parts = [list(sides[n][begins[n] : stop + shifts[n]]) for n in (0, 1)]
        yield start, stop, *parts  # type: ignore[misc]


def without(before: str, after: str, now: str) -> str | None:
    """`now` without the change from `before` to `after`; None if its lines changed again.

    A line that was added must still stand, and what was taken away needs a neighbour that does.
    """
    work = Work()
    old, new, lines = terminated(before), terminated(after), terminated(now)
    standing = kept(changes(new, lines, work), len(new))
    for start, end, old_start, old_end in reversed(changes(new, old, work)):
        place = _place(standing, start, end, bool(new))
        if place is None:
            return None
        lines[place] = old[old_start:old_end]
    return "".join(lines).removesuffix("\n")


def kept(found: Sequence[Change], count: int) -> dict[int, int]:
    """Where each line that did not change stands now, by where it stood among `count` lines."""
    places: dict[int, int] = {}
    start = shift = 0
    for a, b, _, d in [*found, (count, count, 0, 0)]:
        places |= zip(range(start, a), range(start + shift, a + shift), strict=True)
        start, shift = b, d - b
    return places


def _place(standing: dict[int, int], start: int, end: int, was_text: bool) -> slice | None:
    """Where the lines `start` to `end` stand now, all of them and side by side."""
    if start < end:
        places = [standing.get(line, -1) for line in range(start, end)]
        first = places[0]
        if first >= 0 and places == [*range(first, first + len(places))]:
            return slice(first, first + len(places))
    elif start - 1 in standing:  # nothing stands there: below the line before
        return slice(standing[start - 1] + 1, standing[start - 1] + 1)
    elif start in standing or not was_text:
        return slice(standing.get(start, 0), standing.get(start, 0))
    return None
