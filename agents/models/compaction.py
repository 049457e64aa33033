"""Compaction: old messages left the context, and a summary stands for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.db import models, transaction
from django.utils import timezone

from .event import Event
from .message import Message, storable
from .prepared_sql import key, read

if TYPE_CHECKING:
    from .agent import Agent

LONGEST_SUMMARY = 20_000  # characters


class Compaction(models.Model):
    """The messages numbered `first` to `last` left the context; `summary` tells all up to there.

    The messages stay in recall memory. Tokens are those of the whole context, estimated.
    """

    class Author(models.TextChoices):
        MODEL = "model", "the model"
        MECHANICAL = "mechanical", "excerpts, because the model could not be asked"
        PERSON = "person", "a person"

    agent = models.ForeignKey("Agent", models.CASCADE, related_name="compactions")
    run = models.ForeignKey("Run", models.CASCADE, related_name="compactions")
    first = models.BigIntegerField()
    last = models.BigIntegerField()
    tokens_before = models.PositiveIntegerField()
    tokens_after = models.PositiveIntegerField()
    summary = models.TextField(blank=True)
    written_by = models.CharField(max_length=10, choices=Author)
    error = models.TextField(blank=True, help_text="Why the model could not be asked.")
    tried_at = models.DateTimeField(default=timezone.now)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"Messages {self.first} to {self.last}"

    @classmethod
    def newest(cls, agent: Agent) -> Compaction | None:
        """The compaction whose summary is in the agent's context."""
        if not agent.context_from:
            return None
        found = read(cls, "WHERE agent_id = %s ORDER BY id DESC LIMIT 1", key(agent))
        if found and agent.message_buffer_autoclear and found[0].last < agent.context_from - 1:
            return None  # it tells of a message before, which the agent forgot
        return found[0] if found else None

    def previous(self) -> Compaction | None:
        """The compaction before this one."""
        older = Compaction.objects.filter(agent_id=self.agent_id, pk__lt=self.pk)
        return older.order_by("-pk").first()

    def is_newest(self) -> bool:
        """Whether its summary is the one in the context."""
        return not Compaction.objects.filter(agent_id=self.agent_id, pk__gt=self.pk).exists()

    def messages(self) -> models.QuerySet[Message]:
        """What left the context with it."""
        numbers = (self.first, self.last)
        return Message.objects.filter(agent_id=self.agent_id, number__range=numbers)

    @transaction.atomic
    def rewrite(self, summary: str, author: str, error: str = "") -> None:
        """Another summary for the same messages; ValidationError where it is too long."""
        summary = storable(summary).strip()
        if len(summary) > LONGEST_SUMMARY:
            raise ValidationError(
                f"The summary has {len(summary):,} characters; at most {LONGEST_SUMMARY:,} are"
                f" allowed. Shorten it by {len(summary) - LONGEST_SUMMARY:,}."
            )
        try:
            agent = self.agent.locked()
        except ObjectDoesNotExist:  # deleted meanwhile
            return
        self.summary, self.written_by, self.error = summary, author, error
        self.tried_at = timezone.now()
        self.save(update_fields=["summary", "written_by", "error", "tried_at"])
        agent.record(Event.of(Event.Kind.SUMMARY_CHANGED, compaction=self))
