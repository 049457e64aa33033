"""Memory over time as a picture: the size of each block after each run, and which runs changed it.

Places and heights are in percent of a row's picture. Each block has a row of its own, drawn to its
own scale.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models.functions import Length
from django.utils.translation import gettext, ngettext

from agents.ledger.time_travel import steps_of
from agents.models import Block, BlockEdit, Conversation, Event, Run
from agents.models.block_edit import edit_ids
from agents.text.numbers import whole

from .history_filters import NEWEST
from .request import Request

KINDS = (Event.Kind.BLOCK_EDITED, Event.Kind.MEMORY_CHANGED, Event.Kind.RUN_BEGAN)
MOST_RUNS = 60  # the newest
MOST_EDITS = 2000  # the newest
MOST_ROWS = 12  # of blocks that changed; the others are named
FEWEST_PLACES = 20  # so that the first bars are no wider than later ones


class Change(NamedTuple):
    """An edit without its text; `before` and `after` are lengths in characters."""

    pk: int
    block_id: UUID
    created_at: datetime
    step_id: int | None
    before: int
    after: int


class Bar(NamedTuple):
    """A block after a run; `edit` and `step` are those of the last change in it, None without."""

    x: float
    width: float
    height: float
    size: int
    changes: int
    edit: int | None
    step: int | None
    moment: datetime | None

    @property
    def summary(self) -> str:
        size = ngettext("%(count)s character", "%(count)s characters", self.size)
        words = [size % {"count": whole(self.size)}]
        if self.changes == 1:
            words.append(gettext("changed"))
        elif self.changes:
            times = ngettext("changed %(count)s time", "changed %(count)s times", self.changes)
            words.append(times % {"count": self.changes})
        return ", ".join(words)


@dataclass(frozen=True)
class Row:
    """A block's bars, the newest at the right."""

    block: Block
    bars: list[Bar]
    changes: int

    @property
    def stop(self) -> int | None:
        """The edit of the last bar that is a link."""
        return next((bar.edit for bar in reversed(self.bars) if bar.edit), None)


def tab(request: Request, conversation: Conversation) -> dict[str, Any]:
    """The tab "Over time"."""
    agent = conversation.agent
    blocks = agent.core_memory()
    begun = runs_begun(agent.runs.all())
    changes = changes_of(blocks, begun[0] if begun else None)
    changed = sorted(
        (block for block in blocks if changes[block.pk]),
        key=lambda block: changes[block.pk][-1].pk,
        reverse=True,
    )
    shown = changed[:MOST_ROWS]
    return {
        "rows": [row_of(block, changes[block.pk], begun) for block in shown],
        "still": [block for block in blocks if block not in shown],
        "runs": len(begun),
        "steps": steps_of(agent).count(),
    }


def runs_begun(runs: Any) -> list[datetime]:
    """When the newest runs began, oldest first."""
    started = runs.exclude(status=Run.Status.QUEUED).filter(started_at__isnull=False)
    return sorted(started.order_by("-pk").values_list("started_at", flat=True)[:MOST_RUNS])


def changes_of(blocks: Sequence[Block], since: datetime | None) -> dict[UUID, list[Change]]:
    """The edits of some blocks since a moment, oldest first; of very many the newest."""
    ids = edit_ids(list(blocks), "<=", NEWEST, "DESC", MOST_EDITS)
    edits = BlockEdit.objects.filter(pk__in=ids).order_by("pk")
    lengths = edits.annotate(was=Length("previous_value"), size=Length("after"))
    found: dict[UUID, list[Change]] = defaultdict(list)
    for row in lengths.values_list("pk", "block_id", "created_at", "step_id", "was", "size"):
        pk, block_id, moment, step, was, size = row
        if since is None or moment >= since or len(ids) < MOST_EDITS:
            found[block_id].append(Change(pk, block_id, moment, step, was or 0, size))
    return found


def row_of(block: Block, changes: Sequence[Change], begun: Sequence[datetime]) -> Row:
    """A block after each run; what was written before the first has a place of its own."""
    by_place: dict[int, list[Change]] = defaultdict(list)
    for change in changes:
        by_place[bisect_right(begun, change.created_at)].append(change)
    places = range(0 if 0 in by_place or not begun else 1, len(begun) + 1)
    sizes, size = {}, changes[0].before
    for place in places:
        size = by_place[place][-1].after if by_place[place] else size
        sizes[place] = size
    return Row(block, list(bars(places, sizes, by_place)), len(changes))


def bars(
    places: Sequence[int], sizes: dict[int, int], by_place: dict[int, list[Change]]
) -> Iterable[Bar]:
    highest = max(*sizes.values(), 1, 1)
    room = 100 / max(len(places), FEWEST_PLACES)
    left = 100 - room * len(places)
    for index, place in enumerate(places):
        last = by_place[place][-1] if by_place[place] else None
        yield Bar(
            x=round(left + room * index, 3),
            width=round(room * 0.84, 3),
            height=round(max(100 * sizes[place] / highest, 2), 3),
            size=sizes[place],
            changes=len(by_place[place]),
            edit=last.pk if last else None,
            step=last.step_id if last else None,
            moment=last.created_at if last else None,
        )
