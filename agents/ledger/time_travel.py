"""The past: an agent as it was right after one of its steps, read off the ledger and the log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max, QuerySet

from agents.memory.sent_requests import HeldBlock, held_blocks
from agents.models import Agent, Block, BlockEdit, Conversation, Step
from agents.models.ledger import values_of
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


def steps_of(of: Agent | Conversation) -> QuerySet[Step]:
    """The steps of an agent, or of one of its conversations, oldest first."""
    whose = {"run__agent": of} if isinstance(of, Agent) else {"run__conversation": of.pk}
    return Step.objects.filter(**whose).order_by("pk")


def step_at(of: Agent | Conversation, number: int) -> Step | None:
    """The step of that number of theirs, counted from 1 over all runs."""
    if not 1 <= number < MOST_STEPS:
        return None
    # keys alone: whole rows would all be sorted first
    found = list(steps_of(of).values_list("pk", flat=True)[number - 1 : number])
    return (
        Step.objects.select_related("run__conversation__agent", "run__agent")
        .filter(pk__in=found)
        .first()
    )


def number_of(step: Step, of: Agent | Conversation | None = None) -> int:
    """Which of the agent's steps, or of a conversation's, this is, counted from 1."""
    return steps_of(of or step.run.agent).filter(pk__lte=step.pk).count()


def ended_at(step: Step) -> datetime:
    return step.finished_at or step.started_at


def blocks_at(step: Step) -> list[PastBlock]:
    """The agent's blocks right after a step, in the order the model sees them."""
    held = held_blocks(step)
    if held is None:  # nothing was kept of its request: as the ledger has it by time
        held = by_time(step)
    ends = {block.id: block.version for block in held}
    for edit in step.block_edits.order_by("version"):
        ends[str(edit.block_id)] = edit.version
    values = values_of({(block.id, block.version) for block in held} | set(ends.items()))
    there = Block.objects.filter(pk__in=[block.id for block in held])
    now = {str(block.pk): block for block in there.only("description", "owner_id")}
    return [
        PastBlock(
            id=block.id,
            label=block.label,
            limit=block.limit,
            version=ends[block.id],
            value=values.get((block.id, ends[block.id]), ""),
            before=values.get((block.id, block.version), ""),
            description=now[block.id].description if block.id in now else "",
            owner_id=now[block.id].owner_id if block.id in now else None,
        )
        for block in held
    ]


def by_time(step: Step) -> list[HeldBlock]:
    """The blocks held now, at the versions they had when the step began."""
    return [
        HeldBlock(str(block.pk), version_at(block, step.started_at), block.label, block.limit)
        for block in step.run.agent.core_memory()
    ]


def version_at(block: Block, moment: datetime) -> int:
    """The version of a block at a moment."""
    edits = BlockEdit.plain.filter(block=block, created_at__lt=moment)
    return edits.aggregate(newest=Max("version"))["newest"] or 0
