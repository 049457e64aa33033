"""What is stored now, as tests ask for it."""

from __future__ import annotations

from typing import Any

from agents.models import Agent, Block, Conversation, Run


def stored(block: Block) -> Block:
    return Block.objects.get(pk=block.pk)


def kinds(agent: Agent) -> list[str]:
    return list(agent.events.order_by("seq").values_list("kind", flat=True))


def of(agent: Agent) -> dict[str, Any]:
    """The fields of a row of an agent's first conversation, which is made if it is not there."""
    Conversation.objects.get_or_create(pk=agent.pk, agent=agent)
    return {"agent": agent, "conversation_id": agent.pk}


def acquired(run: Run) -> Run:
    """The run as the one who works on it has it."""
    mine = Run.acquire(run.pk)
    assert mine
    return mine
