"""What is stored now, as tests ask for it."""

from __future__ import annotations

from agents.models import (
    Agent,
    Block,
)


def stored(block: Block) -> Block:
    return Block.objects.get(pk=block.pk)


def kinds(agent: Agent) -> list[str]:
    return list(agent.events.order_by("seq").values_list("kind", flat=True))
