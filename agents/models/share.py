"""Shares: agents and blocks that their owner shares with other people and groups of people."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils.translation import gettext

from .agent import Agent
from .audit import AuditEntry
from .block import Block
from .role import SHARED_ROLES, Role
from .signals import access_changed

SHARED, SHARE_CHANGED, SHARE_ENDED = (
    AuditEntry.Action.SHARED,
    AuditEntry.Action.SHARE_CHANGED,
    AuditEntry.Action.SHARE_ENDED,
)


class Share(models.Model):
    """Something shared with one person, or with everybody in one group."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="%(class)ss"
    )
    group = models.ForeignKey(
        Group, models.CASCADE, null=True, blank=True, related_name="%(class)ss"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True
        ordering = ["group__name", "user__username"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(user=None) ^ models.Q(group=None), name="%(class)s_with_one"
            ),
        ]

    @property
    def with_whom(self) -> str:
        """The name of the person or the group."""
        return self.group.name if self.group else self.user.get_username() if self.user else ""

    def audit(self, action: AuditEntry.Action, row: Agent | Block, **details: Any) -> None:
        """Note that a row is shared, how, or that it is not any more."""
        details["group" if self.group else "with"] = self.with_whom
        AuditEntry.record(action, row, person=self.user, **details)


def receiver(to: User | Group, owner_id: int) -> dict[str, Any]:
    """The fields that say with whom something is shared; ValidationError with its owner."""
    if isinstance(to, Group):
        return {"user": None, "group": to}
    if to.pk == owner_id:
        words = gettext("%(person)s owns it already.") % {"person": to.get_username()}
        raise ValidationError({"user": words})
    return {"user": to, "group": None}


class BlockShare(Share):
    """Somebody may attach a block to their agents; they, and these, may write if `can_write`."""

    block = models.ForeignKey(Block, models.CASCADE, related_name="shares")
    can_write = models.BooleanField(default=False)

    class Meta(Share.Meta):
        constraints = [
            *Share.Meta.constraints,
            models.UniqueConstraint(fields=["block", "user"], name="block_is_shared_once"),
            models.UniqueConstraint(fields=["block", "group"], name="block_is_shared_once_a_group"),
        ]

    def __str__(self) -> str:
        return gettext("%(what)s with %(whom)s") % {"what": self.block, "whom": self.with_whom}

    @classmethod
    @transaction.atomic
    def share(cls, block: Block, to: User | Group, *, can_write: bool) -> BlockShare:
        """Share a block, or change how; ValidationError with its owner."""
        fields = receiver(to, block.owner_id)
        block.lock()  # nobody writes meanwhile
        share, made = cls.objects.update_or_create(
            block=block, **fields, defaults={"can_write": can_write}
        )
        share.audit(SHARED if made else SHARE_CHANGED, block, can_write=can_write)
        block.redraw_holders()
        return share

    @transaction.atomic
    def stop(self) -> None:
        """Stop sharing: the block leaves the agents of those who may no longer use it."""
        block = self.block
        block.lock()  # nobody attaches it meanwhile
        self.audit(SHARE_ENDED, block)
        self.delete()
        leave_agents(block)
        block.redraw_holders()


class AgentShare(Share):
    """Somebody may look at an agent, talk to it or edit it, as `role` says."""

    agent = models.ForeignKey(Agent, models.CASCADE, related_name="shares")
    role = models.PositiveSmallIntegerField(choices=SHARED_ROLES, default=Role.VIEWER)

    class Meta(Share.Meta):
        constraints = [
            *Share.Meta.constraints,
            models.UniqueConstraint(fields=["agent", "user"], name="agent_is_shared_once"),
            models.UniqueConstraint(fields=["agent", "group"], name="agent_is_shared_once_a_group"),
        ]

    def __str__(self) -> str:
        return gettext("%(what)s with %(whom)s") % {"what": self.agent, "whom": self.with_whom}

    @classmethod
    @transaction.atomic
    def share(cls, agent: Agent, to: User | Group, role: Role) -> AgentShare:
        """Share an agent, or change the role; ValidationError with its owner."""
        fields = receiver(to, agent.owner_id)
        agent = agent.locked()
        share, made = cls.objects.update_or_create(agent=agent, **fields, defaults={"role": role})
        share.audit(SHARED if made else SHARE_CHANGED, agent, role=Role(role).name.lower())
        agent.configure(is_shared=True)
        return share

    @transaction.atomic
    def stop(self) -> None:
        """Stop sharing; open pages of those who may no longer look say so."""
        agent = self.agent.locked()
        before = agent.audience()
        self.audit(SHARE_ENDED, agent)
        self.delete()
        agent.configure(is_shared=agent.shares.exists())
        tell_on_commit(agent, before)


def tell_on_commit(agent: Agent, people: list[int]) -> None:
    """After the commit, have the pages of these people look at what they may see of an agent."""
    transaction.on_commit(
        lambda: access_changed.send(Agent, agent_id=agent.pk, user_ids=people), robust=True
    )


def leave_agents(block: Block) -> None:
    """Detach a block from the agents whose owners may no longer use it; with its row held."""
    for agent in block.agents.exclude(owner=block.owner_id).select_related("owner").order_by("pk"):
        if not Block.objects.usable_by(agent.owner).filter(pk=block.pk).exists():
            agent.detach(block)


@transaction.atomic
def take_back_from(user: User) -> None:
    """After a person left a group: detach from their agents what is no longer shared with them, and
    have their pages look at what they may still see."""
    foreign = Block.objects.filter(agents__owner=user).exclude(owner=user).distinct()
    for block in Block.objects.locked(list(foreign.values_list("pk", flat=True))):
        leave_agents(block)
    for agent in Agent.objects.filter(shares__group__isnull=False, deleted_at=None).distinct():
        tell_on_commit(agent, [user.pk])
