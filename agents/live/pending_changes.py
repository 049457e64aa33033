"""Changes of blocks that wait for a person's approval, as the panel shows them in the blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from agents.models import Agent, Approval, Block, Run


class PendingChange(NamedTuple):
    """What a call that waits would make of a block, and which other blocks it would change."""

    approval: Approval
    change: dict[str, Any]
    also: list[str]


def add_pending(agent: Agent, blocks: Sequence[Block]) -> None:
    """Give each block the changes of it that wait, in all of the agent's conversations."""
    waiting = Approval.objects.pending().filter(
        kind=Approval.Kind.PERSON,
        step__run__conversation__agent=agent.pk,
        step__run__status=Run.Status.WAITING,
    )
    asked = list(waiting.select_related("step"))
    for block in blocks:
        block.pending = [
            PendingChange(
                approval,
                change,
                [other["label"] for other in approval.changes if other["label"] != block.label],
            )
            for approval in asked
            for change in approval.changes
            if change["label"] == block.label
        ]
