"""HistoryImport: conversations of another assistant on their way into an agent's recall memory.

The file comes in parts, which are rows, so that any worker can read it; they go once it is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from agents.text.numbers import decimal, whole

from .background_job import BackgroundJob, BackgroundJobQuerySet
from .stored_bytes import check_storage

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django_stubs_ext.db.models.manager import RelatedManager

    from .agent import Agent

LARGEST_FILE = 1024**3  # bytes
PART = 8 * 1024 * 1024  # bytes of the file in a row
KEPT_UNFINISHED = timedelta(days=1)
MOST_CHOSEN = 100  # conversations that become passages at once


class HistoryImportQuerySet(BackgroundJobQuerySet):
    def delete_unfinished(self) -> None:
        """Delete the uploads that did not end within a day."""
        begun = timezone.now() - KEPT_UNFINISHED
        self.filter(status=HistoryImport.Status.UPLOADING, created_at__lt=begun).delete()


class HistoryImport(BackgroundJob):
    """One file, what came of it, and what is to be done with it."""

    class Status(models.TextChoices):
        UPLOADING = "uploading", _("being uploaded")
        READING = "reading", _("being read")
        STORING = "storing", _("chosen conversations become passages")
        UNDOING = "undoing", _("being undone")
        DONE = "done", _("done")
        FAILED = "failed", _("ended early")
        UNDONE = "undone", _("undone")

    WORKED_ON = (Status.READING, Status.STORING, Status.UNDOING)

    agent = models.ForeignKey("Agent", models.CASCADE, related_name="history_imports")
    size = models.BigIntegerField(help_text="Bytes of the file.")
    received = models.BigIntegerField(default=0)
    status = models.CharField(max_length=10, choices=Status, default=Status.UPLOADING)
    read = models.PositiveIntegerField(default=0, help_text="Conversations of the file.")
    conversations = models.PositiveIntegerField(default=0)
    messages = models.PositiveIntegerField(default=0)
    passages = models.PositiveIntegerField(default=0)
    left_out = models.JSONField(default=dict, help_text="How often what was left out, and why.")
    chosen = models.JSONField(default=list, help_text="Conversations that become passages.")

    objects = HistoryImportQuerySet.as_manager()

    if TYPE_CHECKING:
        parts: RelatedManager[ImportPart]
        made: RelatedManager[ImportedConversation]

    @property
    def percent(self) -> int:
        """How much of the file has come."""
        return 100 * self.received // max(1, self.size)

    # -- the upload ----------------------------------------------------------------------------

    @classmethod
    @transaction.atomic
    def begin(cls, agent: Agent, user: User, name: str, size: int) -> HistoryImport:
        """Expect a file. ValidationError where it is too large, or another one is going on."""
        if not 0 < size <= LARGEST_FILE:
            raise ValidationError(
                gettext(
                    "The file has %(size)s MB; at most %(most)s MB are allowed, and an empty one"
                    " cannot be read. Choose another file."
                )
                % {"size": decimal(size / 1024**2, 0), "most": whole(LARGEST_FILE // 1024**2)}
            )
        check_storage(agent.owner_id)
        agent = agent.locked()
        if agent.history_imports.filter(status__in=cls.WORKED_ON).exists():
            raise ValidationError(
                gettext(
                    "Another import into this agent goes on. Wait until it has ended, then try"
                    " again."
                )
            )
        agent.history_imports.filter(status=cls.Status.UPLOADING).delete()
        return cls.objects.create(agent=agent, user=user, name=name[:200] or "export", size=size)

    @transaction.atomic
    def take(self, start: int, data: bytes) -> None:
        """Keep a part of the file; one that is there already is not kept twice.

        ValidationError where it is not the one that follows. With the last one the reading begins.
        """
        row = type(self).objects.select_for_update(of=("self",)).get(pk=self.pk)
        self.received, self.status = row.received, row.status
        if self.status != self.Status.UPLOADING or start < self.received:
            return
        if start > self.received or not 0 < len(data) <= min(PART, self.size - start):
            raise ValidationError(
                gettext(
                    "A part from byte %(start)s on was expected, of at most %(most)s bytes."
                    " Upload the file again."
                )
                % {"start": whole(self.received), "most": whole(PART)}
            )
        ImportPart.objects.create(of=self, start=start, data=data)
        self.received += len(data)
        if self.received == self.size:
            self.status = self.Status.READING
        self.save(update_fields=["received", "status"])

    # -- going on ------------------------------------------------------------------------------

    def leave_out(self, reasons: Counter[str]) -> dict[str, int]:
        """What was left out by now, with these."""
        return dict(Counter(self.left_out) + reasons)

    @transaction.atomic
    def end(self, status: str, error: str = "") -> None:
        """Nothing more is to be done; the file goes."""
        now = timezone.now()
        self.keep(status=status, error=error, finished_at=now, chosen=[], tries=0)
        ImportPart.objects.filter(of=self).delete()

    # -- what a person asks for afterwards -----------------------------------------------------

    def choose(self, conversations: Iterable[UUID]) -> None:
        """Have conversations that came with it become passages; ValidationError where they are
        none, or too many, or something else goes on."""
        keys = self.made.filter(conversation__in=list(conversations), passages=[])
        chosen = [str(key) for key in keys.values_list("conversation", flat=True)]
        if not 0 < len(chosen) <= MOST_CHOSEN:
            raise ValidationError(
                ngettext(
                    "Choose up to %(most)s conversation that is not stored as passages yet.",
                    "Choose up to %(most)s conversations that are not stored as passages yet.",
                    MOST_CHOSEN,
                )
                % {"most": MOST_CHOSEN}
            )
        self._ask_for(self.Status.STORING, chosen=chosen)

    def undo(self) -> None:
        """Have all that came with it deleted; ValidationError where something else goes on."""
        self._ask_for(self.Status.UNDOING)

    def _ask_for(self, status: str, **changes: object) -> None:
        rested = HistoryImport.objects.filter(
            pk=self.pk, status__in=(self.Status.DONE, self.Status.FAILED)
        )
        begun = {"status": status, "seen_at": None, "tries": 0, "error": "", **changes}
        if not rested.update(**begun):
            raise ValidationError(
                gettext("This import goes on. Wait until it has ended, then try again.")
            )


class ImportPart(models.Model):
    """A part of the file, from the byte `start` on."""

    of = models.ForeignKey(HistoryImport, models.CASCADE, related_name="parts", db_index=False)
    start = models.BigIntegerField()
    data = models.BinaryField()

    class Meta:
        ordering = ["start"]
        constraints = [
            models.UniqueConstraint(fields=["of", "start"], name="import_part_is_kept_once"),
        ]

    def __str__(self) -> str:
        return f"From byte {self.start:,}"


class ImportedConversation(models.Model):
    """A conversation that came with an import, and the passages that were made of it."""

    of = models.ForeignKey(HistoryImport, models.CASCADE, related_name="made")
    conversation = models.OneToOneField("Conversation", models.CASCADE, related_name="imported")
    messages = models.PositiveIntegerField(default=0)
    passages = models.JSONField(default=list, help_text="Their keys.")

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return str(self.conversation)
