"""A person's list of an agent's conversations: by last activity, with what they have read."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models, transaction
from django.db.models import Max, OuterRef, Subquery
from django.utils.translation import gettext

from .agent import Agent
from .by_activity import OPEN, Groups, grouped, heading_of, waits_for_person
from .conversation import Conversation
from .message import Message
from .signals import list_changed

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

MOST_LISTED = 30  # beside the agents: with them a page has at most 100 links
FOUND = 50  # of those that have some words in their title
FEW = 8  # that need no filter


class ListedConversation(models.Model):
    """How far one person has read a conversation; there is none before they looked."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="listed_for")
    read_to = models.BigIntegerField(default=0, help_text="The newest message they have seen.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "conversation"], name="conversation_is_listed_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.conversation} in the list of {self.user}"

    @classmethod
    @transaction.atomic
    def read(cls, user: User, conversation: Conversation) -> None:
        """Note that a person has seen all that was said in a conversation."""
        newest = newest_in(conversation.pk)
        now = Conversation.objects.filter(pk=conversation.pk).values_list(newest, flat=True)
        defaults = {"read_to": now.first() or 0}
        cls.objects.update_or_create(user=user, conversation=conversation, defaults=defaults)
        transaction.on_commit(
            lambda: list_changed.send(ListedConversation, user_id=user.pk), robust=True
        )


@dataclass
class ConversationList:
    """Conversations under headings; whether there are more, and after which these are."""

    groups: Groups[Conversation]
    last: Conversation | None = None
    has_more: bool = False
    is_long: bool = False


def list_conversations(
    agent: Agent, user: User | AnonymousUser, shown: uuid.UUID | None = None, query: str = ""
) -> ConversationList:
    """The newest conversations of an agent, and the one that is shown wherever it stands; or those,
    archived ones too, with `query` in their title.

    Each has `busy`, `waits` (for a person), `newest` (the number of its newest message) and
    `read_to`, which is None where the person never looked.
    """
    mine: Any = _annotated(agent, user)
    listed = mine.filter(hidden=False).by_activity() if query else mine.listed()
    if query:
        listed = listed.filter(title__icontains=query)
    most = FOUND if query else MOST_LISTED
    rows = list(listed[: most + 1])
    has_more, rows = len(rows) > most, rows[:most]
    groups = grouped(rows, lambda row: heading_of(row.newest_moment))
    if shown and not query and shown not in (row.pk for row in rows):
        groups[:0] = [(gettext(OPEN), [row]) for row in mine.filter(pk=shown)]
    return ConversationList(groups, rows[-1] if rows else None, has_more, len(rows) > FEW)


def _annotated(agent: Agent, user: User | AnonymousUser) -> Any:
    mine = models.FilteredRelation("listed_for", condition=models.Q(listed_for__user=user.pk))
    return agent.conversations.with_activity().annotate(
        mine=mine,
        newest=newest_in(OuterRef("pk")),
        waits=waits_for_person(conversation=OuterRef("pk")),
        read_to=models.F("mine__read_to"),
    )


def newest_in(conversation: Any) -> Subquery:
    """The number of the newest message of a conversation that its page shows."""
    said = Message.objects.filter(conversation=conversation, internal=False).order_by()
    return Subquery(said.values("conversation").annotate(last=Max("number")).values("last"))
