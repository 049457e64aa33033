"""Blame: which edit wrote each line of a block."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from agents.models import Block, BlockEdit
from agents.text.diff import Change, Work, changes, terminated

MOST_READ = 20_000_000  # characters of old values
MOST_EDITS = 20_000
MOST_STEPS = 10_000_000  # of comparing them


class Line(NamedTuple):
    """A line of a block, and the edit that wrote it; None where no edit that was looked at did."""

    text: str
    edit: BlockEdit | None


class Blame(NamedTuple):
    """A block's lines. What no edit wrote is as old as version `traced_to`: 0 is the first value,
    anything else is where looking for it was given up."""

    lines: list[Line]
    traced_to: int

    def passages(self) -> list[tuple[BlockEdit | None, list[str]]]:
        """The lines, those that one edit wrote side by side together."""
        together = groupby(self.lines, key=lambda line: line.edit and line.edit.pk)
        found = [list(lines) for _, lines in together]
        return [(lines[0].edit, [line.text for line in lines]) for lines in found]


def blame(block: Block) -> Blame:
    """Which edit wrote each line of a block's value, read from its ledger, newest version first.

    A line that an edit left as it was keeps its writer. One that an undo or a restore brought back
    was written by that undo or restore: it says who wants the line there now.
    """
    now = terminated(block.value)
    writers: dict[int, int] = {}  # line of the value → version that wrote it
    standing = {place: place for place in range(len(now))}  # line in `now` → line of the value
    read, work = 0, Work(MOST_STEPS)
    version = block.version
    edits = block.edits.filter(version__lte=block.version).order_by("-version")
    values = edits.values_list("version", "previous_value")  # type: ignore[misc]  # annotated
    for version, before in values.iterator(chunk_size=200):
        if not standing:
            break
        read += len(before)
        if read > MOST_READ or block.version - version >= MOST_EDITS or work.left <= 0:
            break
        was = terminated(before)
        work.left -= len(was)
        differing = changes(was, now, work)
        standing = carried_back(differing, standing, writers, version)
        now = was
    else:
        version = 0
    traced_to = version if standing else 0
    written = BlockEdit.plain.filter(block=block, version__in=set(writers.values()))
    written = written.defer("first_value", "after")
    by_version = {edit.version: edit for edit in written.select_related("step__run__agent")}
    lines = [
        Line(text, by_version.get(writers.get(place, 0)))
        for place, text in enumerate(block.value.split("\n") if block.value else [])
    ]
    return Blame(lines, traced_to)


def carried_back(
    differing: Sequence[Change], standing: dict[int, int], writers: dict[int, int], version: int
) -> dict[int, int]:
    """Where the lines that still want a writer stood in the version before.

    Those that were not there are `version`'s, which is noted in `writers`.
    """
    earlier: dict[int, int] = {}
    shift, coming = 0, iter(differing)
    change = next(coming, None)
    for place, line in sorted(standing.items()):
        while change and place >= change[3]:
            shift = change[1] - change[3]
            change = next(coming, None)
        if change and place >= change[2]:
            writers[line] = version
        else:
            earlier[place + shift] = line
    return earlier
