"""Identities as the wire has them, by themselves and as agents show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from agents.models import Agent, Block, Identity
from agents.models.prepared_sql import key, read

from . import ids

State = dict[str, Any]
OF_AGENT = (
    "JOIN agents_identity_agents held ON held.identity_id = agents_identity.id"
    " WHERE held.agent_id = %s ORDER BY agents_identity.created_at, agents_identity.id"
)


def identity_states(identities: Sequence[Identity]) -> list[State]:
    """One owner's identities, with the ids of their agents and blocks."""
    if not identities:
        return []
    agents: dict[UUID, list[str]] = {identity.pk: [] for identity in identities}
    blocks: dict[UUID, list[str]] = {identity.pk: [] for identity in identities}
    held = Identity.agents.through.objects.filter(identity__in=identities, agent__deleted_at=None)
    for pk, agent in held.order_by("agent__created_at").values_list("identity", "agent"):
        agents[pk].append(ids.named("agent", agent))
    usable = Block.objects.usable_by(identities[0].owner)
    kept = Identity.blocks.through.objects.filter(identity__in=identities, block__in=usable)
    for pk, block in kept.order_by("block__created_at").values_list("identity", "block"):
        blocks[pk].append(ids.named("block", block))
    return [
        {
            "id": ids.named("identity", each.pk),
            "identifier_key": each.identifier_key,
            "name": each.name,
            "identity_type": each.identity_type,
            "agent_ids": agents[each.pk],
            "block_ids": blocks[each.pk],
            "properties": each.properties,
        }
        for each in identities
    ]


def identities_of_one(agent: Agent) -> list[State]:
    """The identities of an agent."""
    return identity_states(read(Identity, OF_AGENT, key(agent)))


def identities_of(agents: Sequence[Agent]) -> dict[UUID, list[State]]:
    """Those of several agents, by the agent's key; agents that have none are not in it."""
    held = Identity.agents.through.objects.filter(agent__in=agents).select_related("identity")
    links = list(held.order_by("identity__created_at", "identity"))
    identities = {link.identity_id: link.identity for link in links}
    states = dict(zip(identities, identity_states(list(identities.values())), strict=True))
    found: dict[UUID, list[State]] = {}
    for link in links:
        found.setdefault(link.agent_id, []).append(states[link.identity_id])
    return found
