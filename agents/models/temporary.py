"""Temporary chats: somebody talks to an agent that has no memory, and nothing of it stays.

A temporary chat is an agent's row of its own, with the settings of an agent and none of its memory:
no blocks, no passages, nothing that was said. So whatever goes by an agent's key (its log, search,
exports, forks, counts) cannot meet it, and its tools find no memory to read or write. The default
manager leaves it out of all lists; `every` has it too. Only the person who began it sees it.
"""

from __future__ import annotations

import copy
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models, transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from django.utils.translation import ngettext

from .conversation import TEMPORARY, Conversation
from .limits import LimitReached
from .run import Run
from .signals import agent_purged, list_changed

if TYPE_CHECKING:
    from django_stubs_ext.db.models.manager import RelatedManager

    from .agent import Agent

MOST = 10  # that one person has at once
SEEN_EVERY = timedelta(minutes=1)  # so often an open page says that it is there
GRACE = timedelta(minutes=15)  # without an open page
LONGEST_IDLE = timedelta(hours=24)  # without a message, whatever is open
LONGEST_STOP = timedelta(minutes=5)  # until it is deleted, though a run did not end
NOT_TAKEN = {  # of an agent's settings: what is about its memory, or a script's own
    *("memory_class", "prompt_template", "reflect_every", "hidden"),
    *("description", "metadata", "agent_type", "embedding"),
}


class LastingManager(models.Manager["Agent"]):
    """All agents but the temporary chats, which only their addresses lead to."""

    def get_queryset(self) -> Any:
        return super().get_queryset().filter(temporary_for=None)


class Temporary(models.Model):
    """What an agent is to those who talk to it without its memory."""

    temporary_of = models.ForeignKey(
        "self", models.CASCADE, null=True, editable=False, related_name="+"
    )
    temporary_for = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, editable=False, related_name="+"
    )
    seen_at = models.DateTimeField(
        null=True, editable=False, help_text="Of a temporary chat: when a page last showed it."
    )

    every: Any = models.Manager()

    if TYPE_CHECKING:
        SETTINGS: tuple[str, ...]
        pk: Any
        temporary_of_id: Any
        owner_id: int
        secrets: dict[str, str]
        deleted_at: Any
        runs: RelatedManager[Run]

        def locked(self) -> Agent: ...
        def purge(self) -> None: ...

    class Meta:
        abstract = True

    @property
    def is_temporary(self) -> bool:
        return self.temporary_for_id is not None

    @property
    def lasting_id(self) -> Any:
        """The key of the agent that lists show in its place."""
        return self.temporary_of_id or self.pk

    @transaction.atomic
    def begin_temporary(self, user: User) -> Agent:
        """A temporary chat of a person with this agent, as it is now. LimitReached where they have
        as many as one may."""
        agents: Any = type(self)
        User.objects.select_for_update(no_key=True).get(pk=user.pk)
        if agents.every.filter(temporary_for=user, deleted_at=None).count() >= MOST:
            raise LimitReached(
                ngettext(
                    "You have %(most)s temporary chat open, and that is the most. Close it, then"
                    " try again.",
                    "You have %(most)s temporary chats open, and that is the most. Close one of"
                    " them, then try again.",
                    MOST,
                )
                % {"most": MOST},
                seconds=int(GRACE.total_seconds()),
            )
        taken = [field for field in self.SETTINGS if field not in NOT_TAKEN]
        chat: Agent = agents(
            **{field: copy.deepcopy(getattr(self, field)) for field in taken},
            memory_class="BasicBlockMemory",
            owner_id=self.owner_id,
            secrets=self.secrets,
            temporary_of=self,
            temporary_for=user,
            seen_at=timezone.now(),
        )
        chat.insert()
        Conversation(pk=chat.pk, agent=chat, title=TEMPORARY).insert()
        chat.tell_person()
        return chat

    def temporary_chats(self, user_id: int) -> list[Agent]:
        """A person's temporary chats with this agent, the newest first."""
        of = {"temporary_of": self.pk, "temporary_for": user_id, "deleted_at": None}
        chats = type(self).every.filter(**of)
        return list(chats.order_by("-created_at"))

    def keep_open(self) -> None:
        """Note that somebody has a page of the temporary chat open; nothing for other agents."""
        now = timezone.now()
        if self.seen_at is not None and now - self.seen_at > SEEN_EVERY:
            self.seen_at = now
            type(self).every.filter(pk=self.pk).update(seen_at=now)

    @transaction.atomic
    def close_temporary(self) -> None:
        """Let nobody see the temporary chat any more, stop what goes on in it, and delete it for
        good: at once, or when nothing goes on any more."""
        going = list(self.runs.filter(status__in=Run.ACTIVE))
        for run in going:  # before the agent's row is held, as whoever works on a run does
            run.stop()
        chat = self.locked()
        if not chat.is_temporary or chat.deleted_at:
            return
        pk = chat.pk
        chat.deleted_at = timezone.now()
        chat.update("deleted_at")
        chat.runs.filter(status=Run.Status.QUEUED).delete()
        if not going:
            chat.purge()
        transaction.on_commit(lambda: agent_purged.send(Temporary, agent_id=pk), robust=True)
        chat.tell_person()

    def tell_person(self) -> None:
        """After the commit, have the person's pages draw their list anew."""
        user_id = self.temporary_for_id
        transaction.on_commit(lambda: list_changed.send(Temporary, user_id=user_id), robust=True)

    @classmethod
    def end_temporary(cls) -> None:
        """Close the temporary chats that were left, and delete those that were closed."""
        now = timezone.now()
        chats = cls.every.filter(temporary_for__isnull=False)
        of_chat = Run.objects.filter(agent=OuterRef("pk"))
        spoken = Exists(of_chat.filter(created_at__gt=now - LONGEST_IDLE))
        idle = Q(created_at__lt=now - LONGEST_IDLE) & ~spoken
        for chat in chats.filter(Q(seen_at__lt=now - GRACE) | idle, deleted_at=None):
            chat.close_temporary()
        going = Exists(of_chat.filter(status__in=Run.ACTIVE))
        ended = ~going | Q(deleted_at__lt=now - LONGEST_STOP)
        for chat in chats.filter(ended, deleted_at__isnull=False):
            chat.purge()
