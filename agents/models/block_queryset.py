"""Which blocks: those a person may use; and blocks held until commit, or written, together."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from django.db import models, transaction
from django.db.models import Q
from django.utils.translation import gettext, ngettext

from .agent_queryset import UNFINISHED
from .editing import Editor, MemoryRefusal
from .event import Event
from .role import shared_blocks

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from .agent import Agent
    from .block import Block
    from .block_edit import BlockEdit

MOST_BLOCKS = 100  # that an agent holds, where it makes one itself
LIMIT_OF_NEW = 5_000  # characters of a block that an agent makes


class BlockQuerySet(models.QuerySet["Block"]):
    def usable_by(self, user: User) -> Self:
        """The blocks a person may see and attach: their own and those shared with them, but for
        those that an import of theirs is still writing."""
        unfinished = self.model._default_manager.filter(
            attachment__agent__owner_id=user.pk, attachment__agent__deleted_at=UNFINISHED
        )
        rows = self.exclude(pk__in=unfinished.values("pk"))
        own = Q(owner_id=user.pk)  # for which one index is enough
        shared = shared_blocks(user.pk)
        return rows.filter(own | Q(pk__in=shared) if shared else own)

    def owned_by(self, user: User) -> Self:
        """A person's own blocks, which they may share and delete."""
        return self.filter(owner_id=user.pk)

    def held_by(self, agent: Agent) -> Self:
        """The blocks of an agent's core memory."""
        return self.filter(agents=agent)

    def locked(self, keys: Collection[UUID] | None = None) -> list[Block]:
        """These blocks, all or those of some keys, as they are now, held until commit.

        Held in the order of their keys, whoever asks, so that no two wait for each other.
        """
        if keys is not None and not keys:
            return []
        rows = self.select_for_update(of=("self",)).order_by("pk")
        return list(rows if keys is None else rows.filter(pk__in=keys))

    def lock_with_holders(self, *agents: Agent) -> list[UUID]:
        """Hold these blocks until commit, then all agents that hold one, and these agents; the
        blocks' keys. Whoever takes several rows takes them so, in the order of their keys."""
        blocks = self.select_for_update(of=("self",)).order_by("pk")
        keys = list(blocks.values_list("pk", flat=True))
        rows: Any = self.model._meta.get_field("agents").related_model._default_manager
        held = Q(attachments__block__in=keys) | Q(pk__in=[agent.pk for agent in agents])
        locked = rows.select_for_update().filter(pk__in=rows.filter(held).values("pk"))
        list(locked.order_by("pk").values_list("pk"))
        return keys

    def write_all(self, values: Iterable[tuple[Block, str]], *, by: Editor) -> list[BlockEdit]:
        """Make each value its block's, where it is another; the blocks are held already."""
        changed = [(block, value) for block, value in values if value != block.value]
        if len(changed) > 1:  # each write holds its agents: all of them first, in order
            self.filter(pk__in=[block.pk for block, _ in changed]).lock_with_holders()
        edits = [block.set_value(value, by=by) for block, value in changed]
        return [edit for edit in edits if edit]

    @transaction.atomic
    def create_for(
        self, agent: Agent, label: str, value: str, description: str, *, by: Editor
    ) -> tuple[Block, BlockEdit | None]:
        """Make a block that an agent holds; its first value is an edit, so that the ledger says
        who wrote it.

        ValidationError where the block cannot be so, MemoryRefusal where the value does not fit or
        the agent has as many blocks as it may make.
        """
        count = agent.attachments.count()
        if count >= MOST_BLOCKS:
            raise MemoryRefusal(
                ngettext(
                    "There is %(count)s block in core memory, and no more can be made here; write"
                    " to it, or delete it.",
                    "There are %(count)s blocks in core memory, and no more can be made here; write"
                    " to one of them, or delete one.",
                    count,
                )
                % {"count": count}
            )
        block = self.model(
            owner=agent.owner, label=label, description=description, limit=LIMIT_OF_NEW
        )
        block.full_clean(exclude=["owner"])
        block.save(force_insert=True)
        agent.attach(block)
        return block, block.set_value(value, by=by)

    @transaction.atomic
    def delete_unheld(self) -> bool:
        """Delete blocks with their ledgers and shares; blocks that are gone already count as
        deleted. False, and nothing is deleted, where an agent holds one of them."""
        blocks = self.locked()
        if any(block.agents.exists() for block in blocks):
            return False
        for block in blocks:
            block.delete()
        return True

    @transaction.atomic
    def discard(self, *, by: Editor) -> None:
        """Delete blocks for good; they leave the agents that hold them first.

        MemoryRefusal, and nothing is deleted, where the editor may not: a person deletes a block
        that only their own agents hold, the admin any.
        """
        blocks = self.locked()
        self.lock_with_holders()
        for block in blocks:
            holders = block.holders()
            if any(by.owner_id not in (None, agent.owner_id) for agent in holders):
                raise MemoryRefusal(
                    gettext(
                        "Somebody else's agent holds the block '%(label)s'; stop sharing it first."
                    )
                    % {"label": block.label}
                )
            block.delete()
            for agent in holders:
                agent.record(Event.of(Event.Kind.MEMORY_CHANGED))
