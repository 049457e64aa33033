"""A person's list of agents: by last activity, with what they pinned, archived and have read.

Activity is derived from what a message writes anyway, so a message costs nothing for the list; and
an agent that a person archived is back in their list once something is said to it.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models, transaction
from django.db.models.functions import Coalesce, Left
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from .agent import Agent
from .agent_queryset import AgentQuerySet
from .by_activity import OPEN, Groups, grouped, heading_of, waits_for_person
from .conversation import Conversation
from .message import Message
from .signals import list_changed

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

FIRST = 40  # agents that a page shows of the list
FURTHER = 100  # agents that it gets at once when somebody scrolls on
MOST = 500  # agents that it gets at once at all
LAST_LINE = 100  # characters
PINNED = gettext_noop("Pinned")


class ListedAgent(models.Model):
    """What one person made of an agent in their list; none of it is there before they looked."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    agent = models.ForeignKey(Agent, models.CASCADE, related_name="listed")
    pinned_at = models.DateTimeField(null=True, blank=True)
    archived_at = models.DateTimeField(null=True, blank=True)
    read_to = models.BigIntegerField(
        default=0, help_text="How many of the agent's messages the person has seen."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "agent"], name="agent_is_listed_once"),
        ]

    def __str__(self) -> str:
        return f"{self.agent} in the list of {self.user}"

    @classmethod
    def pin(cls, user: User, agent: Agent, *, on: bool) -> None:
        """Keep an agent at the top of a person's list, or not any more."""
        cls._note(user, agent, pinned_at=timezone.now() if on else None)

    @classmethod
    def archive(cls, user: User, agent: Agent, *, on: bool) -> None:
        """Take an agent out of a person's list until something is said to it, or put it back."""
        changes = {"pinned_at": None} if on else {}
        cls._note(user, agent, archived_at=timezone.now() if on else None, **changes)

    @classmethod
    def read(cls, user: User, agent: Agent) -> None:
        """Note that a person has seen all that was said to an agent or by it."""
        cls._note(user, agent, read_to=agent.message_count)

    @classmethod
    @transaction.atomic
    def _note(cls, user: User, agent: Agent, **changes: datetime | int | None) -> None:
        cls.objects.update_or_create(user=user, agent=agent, defaults=changes)
        transaction.on_commit(lambda: list_changed.send(ListedAgent, user_id=user.pk), robust=True)


@dataclass
class AgentList:
    """A part of a person's list: agents under headings, and where the next part begins, 0 if it is
    the last."""

    groups: Groups[Agent]
    further: int = 0

    def __bool__(self) -> bool:
        return bool(self.groups)


def list_agents(
    user: User | AnonymousUser,
    shown: uuid.UUID | None = None,
    *,
    start: int = 0,
    most: int = FIRST,
    query: str = "",
    archived: bool = False,
) -> AgentList:
    """A part of a person's list of agents; with `shown`, that one also where its turn is later.

    Each agent has `moment` (its last activity), `busy`, `waits` (for a person), `last_line`,
    `pinned_at`, `archived`, `has_temporary` (chats of the person's), and `read_to`, which is None
    where the person never looked.
    """
    agents: Any = _annotated(user)
    listed = agents.listed().filter(archived=archived)
    if query:
        listed = agents.listed().filter(name__icontains=query)
    before = max(start - 1, 0)  # one more, which says whose heading stands already
    rows = list(listed.order_by(*ORDER)[before : start + most + 1])
    heading = _heading(rows.pop(0)) if start and rows else ""
    further = start + most if len(rows) > most else 0
    groups = grouped(rows[:most], _heading)
    if groups and groups[0][0] == heading:
        groups[0] = ("", groups[0][1])
    if shown and not start and not query and shown not in (row.pk for row in rows[:most]):
        groups[:0] = [(gettext(OPEN), [agent]) for agent in agents.filter(pk=shown)]
    return AgentList(groups, further)


ORDER = (models.F("pinned_at").desc(nulls_last=True), "-moment", "pk")


def _annotated(user: User | AnonymousUser) -> AgentQuerySet:
    """The agents that a person may see, with what their list shows of each."""
    of = {"agent": models.OuterRef("pk")}
    newest = models.F("last_message_at").desc(nulls_last=True)
    spoken = Conversation.objects.filter(**of).order_by(newest).values("last_message_at")[:1]
    lines = Message.objects.filter(**of, internal=False, role__in=("user", "assistant"))
    lines = lines.filter(conversation__version_of=None)
    last = lines.exclude(content="").order_by("-number").values(line=Left("content", LAST_LINE))
    mine = models.FilteredRelation("listed", condition=models.Q(listed__user=user.pk))
    temporary = {"temporary_of": models.OuterRef("pk"), "temporary_for": user.pk}
    chats = Agent.every.filter(**temporary, deleted_at=None)
    agents = Agent.objects.visible_to(user).select_related("owner").with_activity()
    return agents.annotate(
        mine=mine,
        moment=Coalesce(models.Subquery(spoken), "created_at"),
        last_line=models.Subquery(last[:1]),
        waits=waits_for_person(agent=models.OuterRef("pk")),
        pinned_at=models.F("mine__pinned_at"),
        archived_at=models.F("mine__archived_at"),
        read_to=models.F("mine__read_to"),
        has_temporary=models.Exists(chats),
    ).annotate(
        archived=models.Case(
            models.When(archived_at__gte=models.F("moment"), then=True),
            default=False,
            output_field=models.BooleanField(),
        )
    )


def _heading(agent: Any) -> str:
    """Under which heading an agent of the list stands."""
    return gettext(PINNED) if agent.pinned_at else heading_of(agent.moment)
