"""The core memories of several agents, read at once."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from .agent import Agent
from .attachment import Attachment
from .block import Block
from .prepared_sql import keys, read, values


def core_memories(agents: Sequence[Agent]) -> dict[UUID, list[Block]]:
    """The blocks of several agents, by the agent's key, each in the order the model sees."""
    among, pks = keys(agents)
    where = f"WHERE agent_id IN {among}"
    links = values(Attachment, ("agent_id", "block_id"), f"{where} ORDER BY position, id", *pks)
    held = f"WHERE id IN (SELECT block_id FROM agents_attachment {where})"
    blocks = {block.pk: block for block in read(Block, held, *pks)}
    memories: dict[UUID, list[Block]] = {agent.pk: [] for agent in agents}
    for agent_pk, block_pk in links:
        memories[agent_pk].append(blocks[block_pk])
    return memories
