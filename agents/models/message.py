"""Message: recall memory, everything ever said by the person, the model and the tools."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils.functional import cached_property
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from agents.text.json import pretty
from agents.text.numbers import whole

from .event import Event
from .image import with_marks
from .prepared_sql import PreparedRow
from .searchable import Searchable, indexed, message_owner

LONGEST_MESSAGE = 100_000  # characters
NO_TEXT = re.compile("[\0\ud800-\udfff]")  # NUL and halves of surrogate pairs


def storable(text: str) -> str:
    """Text with a mark in place of each character that a database cannot hold."""
    return NO_TEXT.sub("\ufffd", text)


def checked(text: str, *, images: bool = False) -> str:
    """A message's text, if it may be sent; it may be empty where there are images beside it."""
    text = storable(text.replace("\0", "")).strip()
    if not text and not images:
        raise ValidationError(gettext("The message is empty; write something first."))
    if len(text) > LONGEST_MESSAGE:
        raise ValidationError(
            ngettext(
                "The message has %(count)s character; at most %(most)s are allowed."
                " Shorten it by %(over)s or send it in parts.",
                "The message has %(count)s characters; at most %(most)s are allowed."
                " Shorten it by %(over)s or send it in parts.",
                len(text),
            )
            % over_most(len(text), LONGEST_MESSAGE)
        )
    return text


def over_most(count: int, most: int) -> dict[str, str]:
    """The numbers of a sentence that says that there is too much of something."""
    return {"count": whole(count), "most": whole(most), "over": whole(count - most)}


def spoken_text(content: str, tool_calls: list[dict[str, str]]) -> str:
    """What a message says: its text, and what the agent told the person by `send_message`."""
    parts = [content]
    for call in tool_calls:
        if call.get("name") == "send_message":
            try:
                text = json.loads(call["arguments"])["message"]
            except (ValueError, LookupError, TypeError, RecursionError):
                continue
            parts.append(text if isinstance(text, str) else "")
    return storable("\n".join(filter(None, parts)))


class DraftText(NamedTuple):
    """The text and the reasoning of a message."""

    content: str
    reasoning: str


class ToolCall(NamedTuple):
    """A tool call as the model made it; `arguments` is its text, which may be no JSON at all.

    `extra` is what its endpoint wants back beside it, `as_text` that the model wrote it as text.
    """

    id: str
    name: str
    arguments: str
    extra: dict[str, Any] | None = None
    as_text: bool = False

    def stored(self) -> dict[str, Any]:
        """As a message keeps it."""
        kept: dict[str, Any] = {"id": self.id, "name": self.name, "arguments": self.arguments}
        if self.extra:
            kept["extra"] = self.extra
        if self.as_text:
            kept["as_text"] = True
        return kept

    def pretty(self) -> str:
        """The arguments with one name a line where they are JSON, else as they came."""
        return storable(pretty(self.arguments))


def left_out_when(
    newest: int, left_out: int | None, absences: Sequence[Sequence[int]]
) -> int | None:
    """From which number on a message was left out when `newest` was the newest; None where it was
    sent then."""
    for since, until in absences:
        if since <= newest < until:
            return since
    return left_out if left_out is not None and left_out <= newest else None


class Message(PreparedRow, Searchable):
    """What somebody said. Numbers rise within the agent; a tool's message answers one call."""

    class Role(models.TextChoices):
        SYSTEM = "system", _("System")
        USER = "user", _("User")
        ASSISTANT = "assistant", _("Assistant")
        TOOL = "tool", _("Tool")

    class Status(models.TextChoices):
        DRAFT = "draft", _("Draft")  # being streamed; its text so far is in the log
        COMPLETE = "complete", _("Complete")
        STOPPED = "stopped", _("Stopped")  # a person stopped it; the model sees what it had said
        BROKEN = "broken", _("Broken")  # the model broke off; the model does not see it

    # the index of the constraint below begins with the agent: it needs none of its own
    agent = models.ForeignKey("Agent", models.CASCADE, related_name="messages", db_index=False)
    # likewise, with the index below
    conversation = models.ForeignKey(
        "Conversation", models.CASCADE, related_name="messages", db_index=False
    )
    run = models.ForeignKey("Run", models.CASCADE, null=True, related_name="messages")
    step = models.ForeignKey("Step", models.CASCADE, null=True, related_name="messages")
    number = models.BigIntegerField()
    role = models.CharField(max_length=10, choices=Role)
    status = models.CharField(max_length=10, choices=Status, default=Status.COMPLETE)
    sender_id = models.CharField(
        max_length=200, blank=True, help_text=_("Who sent it, in a script's own words.")
    )
    content = models.TextField(blank=True)
    images = models.JSONField(
        default=list, blank=True, editable=False, help_text="In order; see `Image.part`."
    )
    said_by = models.CharField(
        max_length=150,
        blank=True,
        editable=False,
        help_text="Whose message it is, where several people talk to the agent.",
    )
    reasoning = models.TextField(blank=True)
    tool_calls = models.JSONField(default=list, blank=True)
    extra = models.JSONField(
        default=dict, editable=False, help_text="What the model's endpoint may want back."
    )
    tool_call_id = models.CharField(max_length=200, blank=True)
    left_out = models.BigIntegerField(
        null=True,
        editable=False,
        help_text="Not sent once the newest message has this number: a person left it out.",
    )
    absences = models.JSONField(
        default=list,
        editable=False,
        help_text="When it was left out and then put back: from one number on until another.",
    )
    internal = models.BooleanField(
        default=False,
        help_text=_("Said in a run that is not part of the conversation, such as a reflection."),
    )
    is_error = models.BooleanField(default=False)
    stdout = models.TextField(blank=True, help_text=_("What a custom tool printed."))
    duration_ms = models.PositiveIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    TERMS_OF = frozenset({"agent", "role", "status", "content", "tool_calls"})

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["agent", "number"], name="message_number_is_unique"),
            models.UniqueConstraint(
                fields=["step", "tool_call_id"],
                condition=models.Q(role="tool"),
                name="tool_call_is_answered_once",
            ),
        ]
        indexes = [models.Index(fields=["conversation", "number"], name="message_in_conversation")]

    def __str__(self) -> str:
        return f"{self.role}: {self.words[:60]}"

    @property
    def words(self) -> str:
        """Its text, with a mark for each of its images."""
        return with_marks(self.content, self.images) if self.images else self.content

    def calls(self) -> list[ToolCall]:
        """The tool calls of an assistant's message."""
        return [
            ToolCall(
                call["id"],
                call["name"],
                call["arguments"],
                extra=call.get("extra"),
                as_text=call.get("as_text", False),
            )
            for call in self.tool_calls
        ]

    @property
    def place(self) -> tuple[str, int]:
        """What of its conversation's page it stands in: a step, or itself."""
        return ("step", self.step_id) if self.step_id else ("message", self.pk)

    def get_absolute_url(self) -> str:
        """Where it stands in its conversation's page."""
        name, number = self.place
        return f"{self.conversation.get_absolute_url()}?{name}={number}#{name}-{number}"

    @transaction.atomic
    def rewrite(self, *, content: str | None = None, reasoning: str | None = None) -> None:
        """Change what was said in the past; the agent's next step sees it so.

        A step that sent the message as it was can then no longer show its request as proven.
        ValidationError where the message is still being written, or the text is empty or too long.
        """
        agent = self.agent.locked()
        self.refresh_from_db(fields=["status", "content", "images", "reasoning"])
        if self.status == self.Status.DRAFT:
            raise ValidationError(
                gettext("The message is still being written; wait until its run has ended.")
            )
        if content is not None:
            self.content = checked(content, images=bool(self.images))
        if reasoning is not None:
            self.reasoning = storable(reasoning)
        self.save(update_fields=["content", "reasoning"])
        conversation = self.conversation
        conversation.agent = agent
        changed = Event.of(Event.Kind.MESSAGE_CHANGED, message=self)
        conversation.record(self.step.changed() if self.step else changed)
        conversation.count_rewriting()

    # -- search ------------------------------------------------------------------------------

    def search_terms(self) -> str:
        """What recall memory is searched by; nothing of a draft or of what broke off."""
        if self.status not in (self.Status.COMPLETE, self.Status.STOPPED):
            return ""
        owner = message_owner(self.role, self.agent_id.hex)
        return indexed(owner, spoken_text(self.words, self.tool_calls), self.tool_calls)

    # -- drafts ------------------------------------------------------------------------------

    is_streamed = True  # whether the log has, or may have, pieces of it

    @cached_property
    def draft_text(self) -> DraftText:
        """What is already streamed of a draft."""
        pieces = {"content": "", "reasoning": ""}
        for event in self.texts.order_by("seq"):
            pieces[event.data["field"]] += event.data["text"]
        return DraftText(**pieces)
