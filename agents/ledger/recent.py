"""What changed lately in blocks: since when changes are marked, what Undo and Redo would take.

All of it is read off the blocks' ledgers alone, so that a page that was told of an edit and one
that was loaded after it mark the same words.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import NamedTuple
from uuid import UUID

from django.db.models import F

from agents.models import Agent, Block, BlockEdit
from agents.models.block_edit import taken_back_by
from agents.models.ledger import values_of

MOST_EDITS = 20  # of a block that are looked at
INDEX_FROM = 8  # blocks


class Entry(NamedTuple):
    """An edit, without its text, and when the run that it was made in began and ended."""

    pk: int
    block_id: UUID
    version: int
    undoes: int | None
    created_at: datetime
    step: int | None
    began: datetime | None
    ended: datetime | None


FIELDS = (
    *("pk", "block_id", "version", "undoes_id", "created_at"),
    *("step_id", "step__run__started_at", "step__run__finished_at"),
)


def add_recent(blocks: Sequence[Block], newest: BlockEdit | None = None) -> None:
    """Give each block its newest edit, the value before what is marked, and what can be taken back
    or brought back. `newest` is the edit of a single block, where it is at hand."""
    lately = BlockEdit.plain.filter(
        block__in=blocks, version__gt=F("block__version") - MOST_EDITS
    ).order_by("block_id", "-version")
    rows = map(Entry._make, lately.values_list(*FIELDS))
    entries = {pk: list(group) for pk, group in groupby(rows, key=lambda row: row.block_id)}
    if newest is None:
        found = BlockEdit.objects.filter(block__in=blocks, version=F("block__version"))
        found = found.defer("first_value", "after").select_related("step__run__agent")
        edits = {edit.block_id: edit for edit in found}
    else:
        edits = {newest.block_id: newest}
    for block in blocks:
        block.newest_edit = edits.get(block.pk)
        if block.newest_edit and block.pk in entries:
            block.marked_since = marked_since(entries[block.pk])
            block.to_undo, block.to_redo = to_undo(entries[block.pk]), to_redo(entries[block.pk])
    _add_values_before(blocks)


def _add_values_before(blocks: Sequence[Block]) -> None:
    earlier = {
        (str(block.pk), block.marked_since)
        for block in blocks
        if block.newest_edit and block.marked_since < block.version - 1
    }
    values = values_of(earlier) if earlier else {}
    for block in blocks:
        if block.newest_edit:
            at = (str(block.pk), block.marked_since)
            block.marked_from = values.get(at) if at in earlier else block.newest_edit.before


def marked_since(entries: Sequence[Entry]) -> int:
    """The version that a block had when the run began that the newest edit belongs to.

    A person's edit belongs to the run that was going on; else it stands by itself.
    """
    newest = entries[0]
    made = next((entry for entry in entries if entry.step), None)
    if made is None or (made is not newest and made.ended and made.ended < newest.created_at):
        return newest.version - 1
    began = made.began or made.created_at
    within = [entry for entry in entries if entry.created_at >= began]
    return min(within[-1].version if within else newest.version, newest.version) - 1


def to_undo(entries: Sequence[Entry]) -> int | None:
    """The newest edit that was not taken back and is no undo itself."""
    taken_back = _taken_back(entries)
    return next((e.pk for e in entries if not e.undoes and e.pk not in taken_back), None)


def to_redo(entries: Sequence[Entry]) -> int | None:
    """The newest undo that holds, where nothing was written since then but undos and redos."""
    taken_back = _taken_back(entries)
    undoes = {entry.pk: entry.undoes for entry in entries}
    for entry in entries:
        if not entry.undoes:
            return None
        is_redo = undoes.get(entry.undoes) is not None
        if not is_redo and entry.pk not in taken_back:
            return entry.pk
    return None


def _taken_back(entries: Sequence[Entry]) -> dict[int, int]:
    return taken_back_by({entry.pk: entry.undoes for entry in entries if entry.undoes})


# -- the index of many blocks ----------------------------------------------------------------------


def by_change(blocks: Sequence[Block]) -> list[Block]:
    """Blocks with what was changed last first; [] where they are so few that they need no index."""
    if len(blocks) < INDEX_FROM:
        return []
    return sorted(blocks, key=lambda b: b.newest_edit.pk if b.newest_edit else 0, reverse=True)


def index_of(agent: Agent) -> list[Block]:
    """The same of an agent's blocks, with nothing but their labels."""
    held = list(agent.attachments.order_by("position", "pk").values_list("block_id", "label"))
    if len(held) < INDEX_FROM:
        return []
    newest = {
        block_id: pk
        for pk, block_id in BlockEdit.plain.filter(
            block__in=[block_id for block_id, _ in held], version=F("block__version")
        ).values_list("pk", "block_id")
    }
    blocks = [Block(pk=block_id, label=label) for block_id, label in held]
    return sorted(blocks, key=lambda block: newest.get(block.pk, 0), reverse=True)
