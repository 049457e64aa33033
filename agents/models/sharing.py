"""Who else has a block, as far as it is one person's business."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from uuid import UUID

from django.contrib.auth.models import User

from . import Agent, Attachment, Block, BlockShare
from .prepared_sql import key, values


@dataclass(frozen=True)
class Holder:
    """One of the person's own agents that holds the block; a deleted one can be brought back."""

    pk: UUID
    name: str
    deleted: bool


@dataclass
class Sharing:
    """What one person is told of a block.

    `owner` is "" where the block is their own; only then it is told how many agents of other people
    hold it (`others`), and how many people it was given to (`people`).
    """

    owner: str = ""
    may_write: bool = True
    holders: list[Holder] = field(default_factory=list)
    others: int = 0
    people: int = 0

    @property
    def agents(self) -> list[Holder]:
        """The person's agents that hold it now."""
        return [holder for holder in self.holders if not holder.deleted]

    @property
    def in_words(self) -> str:
        """`shared with 2 agents`, `given to 1 person`, both; "" where nobody else has it."""
        agents = len(self.agents) + self.others
        said = [f"shared with {counted(agents, 'agent')}"] if agents else []
        said += [f"given to {counted(self.people, 'person', 'people')}"] if self.people else []
        return ", ".join(said)


def counted(number: int, noun: str, plural: str = "") -> str:
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def sharing_of(
    blocks: Iterable[Block], user_id: int, but_for: UUID | None = None
) -> dict[UUID, Sharing]:
    """What a person is told of each of some blocks, by key; `but_for` is an agent left out.

    Every draw of a panel passes here: where nobody shares anything, it is two quick statements.
    """
    found = {block.pk: Sharing() for block in blocks}
    owners = {block.pk: block.owner_id for block in blocks}
    keys = [key(block) for block in blocks]
    if not keys:
        return found
    among = f"WHERE block_id IN ({', '.join(['%s'] * len(keys))})"
    for block_id, to, can_write in values(
        BlockShare, ("block_id", "user_id", "can_write"), among, *keys
    ):
        if owners[block_id] == user_id:
            found[block_id].people += 1
        elif to == user_id:
            found[block_id].may_write = can_write
    held = values(Attachment, ("block_id", "agent_id"), among, *keys)
    others = [(block_id, agent_id) for block_id, agent_id in held if agent_id != but_for]
    if others:
        _tell_holders(found, owners, others, user_id)
    if foreign := {pk: owner for pk, owner in owners.items() if owner != user_id}:
        people = User.objects.in_bulk(set(foreign.values()))
        for pk, owner in foreign.items():
            found[pk].owner = people[owner].get_username()
    return found


def _tell_holders(
    found: dict[UUID, Sharing],
    owners: dict[UUID, int],
    held: list[tuple[UUID, UUID]],
    user_id: int,
) -> None:
    """Enter the agents that hold blocks, given as `(block, agent)` keys."""
    agents = Agent.objects.only("name", "owner_id", "deleted_at").in_bulk({a for _, a in held})
    for block_id, agent in sorted(
        ((block_id, agents[pk]) for block_id, pk in held if pk in agents),
        key=lambda pair: pair[1].name,
    ):
        if agent.owner_id == user_id:
            deleted = agent.deleted_at is not None
            found[block_id].holders.append(Holder(agent.pk, agent.name, deleted))
        elif owners[block_id] == user_id:
            found[block_id].others += 1
