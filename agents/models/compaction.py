"""Compaction: old messages left the context, and a summary stands for them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.db import models, transaction
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from .event import Event
from .message import Message, over_most, storable
from .prepared_sql import key, read

if TYPE_CHECKING:
    from .conversation import Conversation

LONGEST_SUMMARY = 20_000  # characters


class Compaction(models.Model):
    """The messages numbered `first` to `last` left the context; `summary` tells all up to there.

    The messages stay in recall memory. Tokens are those of the whole context, estimated.
    """

    class Author(models.TextChoices):
        MODEL = "model", _("the model")
        MECHANICAL = "mechanical", _("excerpts, because the model could not be asked")
        PERSON = "person", _("a person")

    conversation = models.ForeignKey("Conversation", models.CASCADE, related_name="compactions")
    run = models.ForeignKey("Run", models.CASCADE, related_name="compactions")
    first = models.BigIntegerField()
    last = models.BigIntegerField()
    tokens_before = models.PositiveIntegerField()
    tokens_after = models.PositiveIntegerField()
    summary = models.TextField(blank=True)
    written_by = models.CharField(max_length=10, choices=Author)
    error = models.TextField(blank=True, help_text=_("Why the model could not be asked."))
    tried_at = models.DateTimeField(default=timezone.now)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        words = gettext("Messages %(first)s to %(last)s")
        return words % {"first": self.first, "last": self.last}

    @property
    def agent_id(self) -> UUID:
        return self.run.agent_id

    @classmethod
    def newest(cls, conversation: Conversation) -> Compaction | None:
        """The compaction whose summary is in the conversation's context."""
        if not conversation.context_from:
            return None
        of_conversation = "WHERE conversation_id = %s ORDER BY id DESC LIMIT 1"
        found = read(cls, of_conversation, key(conversation))
        forgets = conversation.agent.message_buffer_autoclear
        if found and forgets and found[0].last < conversation.context_from - 1:
            return None  # it tells of a message before, which the agent forgot
        return found[0] if found else None

    def previous(self) -> Compaction | None:
        """The compaction before this one."""
        older = Compaction.objects.filter(conversation_id=self.conversation_id, pk__lt=self.pk)
        return older.order_by("-pk").first()

    def is_newest(self) -> bool:
        """Whether its summary is the one in the context."""
        newer = Compaction.objects.filter(conversation_id=self.conversation_id, pk__gt=self.pk)
        return not newer.exists()

    def messages(self) -> models.QuerySet[Message]:
        """What left the context with it."""
        numbers = (self.first, self.last)
        return self.conversation.messages.filter(number__range=numbers)

    @transaction.atomic
    def rewrite(self, summary: str, author: str, error: str = "") -> None:
        """Another summary for the same messages; ValidationError where it is too long."""
        summary = storable(summary).strip()
        if len(summary) > LONGEST_SUMMARY:
            raise ValidationError(
                ngettext(
                    "The summary has %(count)s character; at most %(most)s are allowed. Shorten"
                    " it by %(over)s.",
                    "The summary has %(count)s characters; at most %(most)s are allowed. Shorten"
                    " it by %(over)s.",
                    len(summary),
                )
                % over_most(len(summary), LONGEST_SUMMARY)
            )
        try:
            agent = self.conversation.agent.locked()
        except ObjectDoesNotExist:  # deleted meanwhile
            return
        self.summary, self.written_by, self.error = summary, author, error
        self.tried_at = timezone.now()
        self.save(update_fields=["summary", "written_by", "error", "tried_at"])
        self.conversation.agent = agent
        self.conversation.record(Event.of(Event.Kind.SUMMARY_CHANGED, compaction=self))
