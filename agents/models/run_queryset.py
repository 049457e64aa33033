"""Which runs: those that go on, those that wait, those of a transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self
from uuid import UUID

from django.db import models
from django.db.models.functions import Coalesce
from django.utils import timezone

from .lease import silent_since
from .prepared_sql import key, read

if TYPE_CHECKING:
    from .conversation import Conversation
    from .run import Run


class RunQuerySet(models.QuerySet["Run"]):
    def running(self) -> Self:
        return self.filter(status="running")

    def queued(self) -> Self:
        return self.filter(status="queued").order_by("pk")

    def unended(self) -> Self:
        return self.filter(status__in=["queued", "running", "waiting"])

    def stuck(self) -> Self:
        """Those that go on, but no worker gave a sign of life for longer than it may."""
        return (
            self.running()
            .annotate(sign=Coalesce("seen_at", "started_at", "created_at"))
            .filter(sign__lt=silent_since())
        )

    def waiting_for_approval(self, conversation: Conversation) -> Run | None:
        """The conversation's run that waits until a person approves a tool call."""
        waiting = "WHERE conversation_id = %s AND status = 'waiting' LIMIT 1"
        rows = read(self.model, waiting, key(conversation))
        return rows[0] if rows else None

    def startable(self) -> Self:
        """Those that wait in a conversation in which nothing goes on."""
        going = self.model.objects.filter(
            conversation=models.OuterRef("conversation"), status__in=["running", "waiting"]
        )
        return self.queued().filter(~models.Exists(going))

    def conversations(self) -> models.QuerySet[Run, UUID]:
        """The keys of the conversations these are in."""
        return self.order_by().values_list("conversation", flat=True)

    def callbacks_due(self) -> Self:
        """The runs of which a script is to be told, by a POST, those that waited longest first."""
        due = self.filter(callback_due_at__lte=timezone.now(), agent__owner__is_active=True)
        return due.select_related("agent").order_by("callback_due_at")

    def shown(self) -> Self:
        """The runs of a transcript, with all that is drawn of them."""
        return (
            self.exclude(status="queued")
            .order_by("pk")
            .prefetch_related(
                "messages",
                "compactions",
                "steps__messages",
                "steps__block_edits__block",
                "steps__approvals__decided_by",
            )
        )
