"""Who else has a block, as far as one person may know it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from uuid import UUID

from django.contrib.auth.models import User
from django.utils.text import get_text_list
from django.utils.translation import gettext, ngettext

from agents.text.numbers import whole

from . import Agent, Attachment, Block, BlockShare
from .prepared_sql import key, values
from .role import shared_blocks


@dataclass(frozen=True)
class Holder:
    """One of the person's own agents that holds the block; a deleted one can be brought back."""

    pk: UUID
    name: str
    deleted: bool


@dataclass
class Sharing:
    """Who else has a block, as one person may know it.

    `owner` is "" where the block is their own; only then they know how many agents of other people
    hold it (`others`), and with how many people and groups it is shared (`people`, `groups`).
    """

    owner: str = ""
    may_write: bool = True
    holders: list[Holder] = field(default_factory=list)
    others: int = 0
    people: int = 0
    groups: int = 0

    @property
    def agents(self) -> list[Holder]:
        """The person's agents that hold it now."""
        return [holder for holder in self.holders if not holder.deleted]

    @property
    def in_words(self) -> str:
        """`shared with 2 agents, 1 person and 1 group`, or some of these; "" where nobody else has
        it."""
        agents = len(self.agents) + self.others
        counts = [agents_in_words(agents)] if agents else []
        counts += [people_in_words(self.people)] if self.people else []
        counts += [groups_in_words(self.groups)] if self.groups else []
        return gettext("shared with %(whom)s") % {"whom": listed(counts)} if counts else ""


def listed(words: list[str]) -> str:
    """`a`, `a and b`, or `a, b and c`."""
    return get_text_list(words, gettext("and"))


def agents_in_words(count: int) -> str:
    return ngettext("%(count)s agent", "%(count)s agents", count) % {"count": whole(count)}


def people_in_words(count: int) -> str:
    return ngettext("%(count)s person", "%(count)s people", count) % {"count": whole(count)}


def groups_in_words(count: int) -> str:
    return ngettext("%(count)s group", "%(count)s groups", count) % {"count": whole(count)}


def sharing_of(
    blocks: Iterable[Block], user_id: int, but_for: UUID | None = None
) -> dict[UUID, Sharing]:
    """The sharing of blocks as a person may know it, by key; `but_for` is an agent left out.

    Every rendering of a panel asks this: where nobody shares anything, it is two quick statements.
    """
    sharings = {block.pk: Sharing() for block in blocks}
    owners = {block.pk: block.owner_id for block in blocks}
    keys = [key(block) for block in blocks]
    if not keys:
        return sharings
    among = f"WHERE block_id IN ({', '.join(['%s'] * len(keys))})"
    shares = values(BlockShare, ("block_id", "group_id"), among, *keys)
    for block_id, group in shares:
        if owners[block_id] == user_id:
            sharings[block_id].groups += bool(group)
            sharings[block_id].people += not group
    if shares:
        written = shared_blocks(user_id, to_write=True)
        for pk, owner in owners.items():
            sharings[pk].may_write = owner == user_id or pk in written
    held = values(Attachment, ("block_id", "agent_id"), among, *keys)
    others = [(block_id, agent_id) for block_id, agent_id in held if agent_id != but_for]
    if others:
        _add_holders(sharings, owners, others, user_id)
    if foreign := {pk: owner for pk, owner in owners.items() if owner != user_id}:
        people = User.objects.in_bulk(set(foreign.values()))
        for pk, owner in foreign.items():
            sharings[pk].owner = people[owner].get_username()
    return sharings


def _add_holders(
    sharings: dict[UUID, Sharing],
    owners: dict[UUID, int],
    held: list[tuple[UUID, UUID]],
    user_id: int,
) -> None:
    """Enter the agents that hold blocks: `held` are `(block, agent)` keys."""
    agents = Agent.objects.only("name", "owner_id", "deleted_at").in_bulk({a for _, a in held})
    for block_id, agent in sorted(
        ((block_id, agents[pk]) for block_id, pk in held if pk in agents),
        key=lambda pair: pair[1].name,
    ):
        if agent.owner_id == user_id:
            deleted = agent.deleted_at is not None
            sharings[block_id].holders.append(Holder(agent.pk, agent.name, deleted))
        elif owners[block_id] == user_id:
            sharings[block_id].others += 1
