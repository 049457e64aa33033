"""The past: an agent as it was right after one of its steps, read off the ledger and the log."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from agents.models import Agent, Block, BlockEdit, Step
from agents.text.diff import Piece, words_changed

MOST_STEPS = 2**31  # of an agent; what is asked for beyond, no database can count to


@dataclass(frozen=True)
class PastBlock:
    """A block at some version; `before` is its value when the step began."""

    id: str
    label: str
    limit: int
    version: int
    value: str
    before: str
    description: str = ""
    owner_id: int | None = None

    def pieces(self) -> list[Piece]:
        """The value with what the step changed."""
        return words_changed(self.before, self.value)

    @property
    def changed(self) -> bool:
        return self.before != self.value


def steps_of(agent: Agent) -> QuerySet[Step]:
    """The agent's steps, oldest first."""
    return Step.objects.filter(run__agent=agent).order_by("pk")


def step_at(agent: Agent, number: int) -> Step | None:
    """The agent's step of that number, counted from 1 over all runs."""
    if not 1 <= number < MOST_STEPS:
        return None
    # keys alone: whole rows would all be sorted first
    found = list(steps_of(agent).values_list("pk", flat=True)[number - 1 : number])
    return Step.objects.select_related("run__agent").filter(pk__in=found).first()


def number_of(step: Step) -> int:
    """Which of the agent's steps this is, counted from 1."""
    return steps_of(step.run.agent).filter(pk__lte=step.pk).count()


def ended_at(step: Step) -> datetime:
    return step.finished_at or step.started_at


def blocks_at(step: Step) -> list[PastBlock]:
    """The agent's blocks right after a step, in the order the model sees them."""
    held = step.request.get("blocks") if step.request else None
    if held is None:  # nothing was kept of its request: as the ledger has it by time
        held = by_time(step)
    ends = {entry["id"]: entry["version"] for entry in held}
    for edit in step.block_edits.order_by("version"):
        ends[str(edit.block_id)] = edit.version
    wanted = {(entry["id"], entry["version"]) for entry in held} | set(ends.items())
    values = values_of(wanted)
    there = Block.objects.filter(pk__in=[entry["id"] for entry in held])
    now = {str(block.pk): block for block in there.only("description", "owner_id")}
    return [
        PastBlock(
            id=entry["id"],
            label=entry["label"],
            limit=entry["limit"],
            version=ends[entry["id"]],
            value=values.get((entry["id"], ends[entry["id"]]), ""),
            before=values.get((entry["id"], entry["version"]), ""),
            description=now[entry["id"]].description if entry["id"] in now else "",
            owner_id=now[entry["id"]].owner_id if entry["id"] in now else None,
        )
        for entry in held
    ]


def by_time(step: Step) -> list[dict[str, Any]]:
    """The blocks held now, at the versions they had when the step began."""
    began = step.started_at
    return [
        {
            "id": str(block.pk),
            "label": block.label,
            "limit": block.limit,
            "version": block.edits.filter(created_at__lt=began)
            .order_by("-version")
            .values_list("version", flat=True)
            .first()
            or 0,
        }
        for block in step.run.agent.core_memory()
    ]


def values_of(versions: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str]:
    """The values of blocks at versions, as `(id, version)` → value.

    Version 0 is what a block began with: what its first edit found, or what it still holds.
    """
    values: dict[tuple[str, int], str] = {}
    first = [block for block, version in versions if version == 0]
    wanted = Q(pk__in=[])
    for block, version in versions:
        if version:
            wanted |= Q(block_id=block, version=version)
    for edit in BlockEdit.plain.filter(wanted):
        values[str(edit.block_id), edit.version] = edit.after
    for unwritten in Block.objects.filter(pk__in=first, version=0):
        values[str(unwritten.pk), 0] = unwritten.value
    for edit in BlockEdit.objects.filter(block_id__in=first, version=1):
        values[str(edit.block_id), 0] = edit.before
    return values
