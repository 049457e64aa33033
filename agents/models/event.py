"""Event: one row of an agent's log. The log is what a page, a socket and a second tab all read."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Self
from uuid import UUID

from django.core.exceptions import ObjectDoesNotExist
from django.db import connection, models, transaction

from .prepared_sql import key

if TYPE_CHECKING:
    from .agent import Agent
    from .message import Message

BATCH = 500  # events that are deleted at once: the log is not held for long


class EventQuerySet(models.QuerySet["Event"]):
    def after(self, seq: int) -> Self:
        """The events a page rendered at `seq` has not seen, oldest first."""
        return self.filter(seq__gt=seq).order_by("seq")

    def prune(self, before: datetime, after_pk: int = 0) -> int | None:
        """Delete a batch of the oldest events, and note with each agent up to where its log lacks
        some; the key of the last that was looked at, None at the end.

        Pieces of drafts stay: the final form of their messages deletes them.
        """
        oldest = self.filter(pk__gt=after_pk).order_by("pk")[:BATCH]
        looked_at = list(oldest.values_list("pk", "agent", "seq", "draft", "created_at"))
        old = [row for row in looked_at if row[4] < before]
        doomed = [(pk, agent, seq) for pk, agent, seq, draft, _ in old if draft is None]
        newest: dict[UUID, int] = {}
        for _, agent, seq in doomed:
            newest[agent] = max(seq, newest.get(agent, 0))
        with transaction.atomic():
            agents = Event._meta.get_field("agent").related_model._base_manager
            for agent in sorted(newest):
                noted = agents.filter(pk=agent, pruned_seq__lt=newest[agent])
                noted.update(pruned_seq=newest[agent])
            self.filter(pk__in=[pk for pk, _, _ in doomed]).delete()
        return old[-1][0] if len(old) == BATCH else None


class Event(models.Model):
    """A change as everyone who looks at the agent is told of it. Made only by `Agent.record()`.

    `data` holds ids and, for TEXT, a piece of a draft; see `agents/runs/streaming.py`.
    Between two events of one agent `seq` rises by one, except where finished drafts' TEXT events
    were deleted: the message's final form, which came after them, holds all they said. Old events
    are pruned; `Agent.pruned_seq` is the last of them.
    """

    class Kind(models.TextChoices):
        AGENT_CHANGED = "agent_changed"  # name, model, prompt, deleted, restored
        MEMORY_CHANGED = "memory_changed"  # which blocks there are, and their settings
        BLOCK_EDITED = "block_edited"  # {"block", "edit"}
        QUEUE_CHANGED = "queue_changed"  # messages that wait
        RUN_BEGAN = "run_began"  # {"run"}
        ACTIVITY = "activity"  # {"run"}: what the agent is doing, in words
        STEP_BEGAN = "step_began"  # {"step"}
        TEXT = "text"  # {"message", "field", "start", "text"}: one more piece of a draft
        STEP_CHANGED = "step_changed"  # {"step"}: a message complete, a tool returned, the end
        # {"passage"} or {"passages": [ids]} written or gone, or {"recalled": [ids]}; {} of a file
        ARCHIVAL_CHANGED = "archival_changed"
        RUN_CHANGED = "run_changed"  # {"run"}: it ended, or goes on after all
        COMPACTED = "compacted"  # {"compaction", "run"}: old messages left the context
        SUMMARY_CHANGED = "summary_changed"  # {"compaction"}
        MESSAGE_CHANGED = "message_changed"  # {"message"}: what a person said was rewritten
        VERSION_CHANGED = "version_changed"  # {"until": run}: the runs up to it are drawn anew
        RESET = "reset"  # all that was said in a conversation was forgotten
        CONVERSATION_CHANGED = "conversation_changed"  # {"conversation"}: new, title, gone

    # the index of the constraint below begins with the agent: it needs none of its own
    agent = models.ForeignKey("Agent", models.CASCADE, related_name="events", db_index=False)
    seq = models.BigIntegerField()
    # of what only one conversation's pages draw; what outlives it leads nowhere
    conversation = models.ForeignKey(
        "Conversation",
        models.DO_NOTHING,
        null=True,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    kind = models.CharField(max_length=20, choices=Kind)
    data = models.JSONField(default=dict)
    draft = models.ForeignKey(
        "Message", models.CASCADE, null=True, related_name="texts", db_index=False
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = EventQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["agent", "seq"], name="event_seq_is_unique"),
        ]
        indexes = [
            models.Index(
                fields=["draft"], condition=models.Q(draft__isnull=False), name="texts_of_draft"
            )
        ]

    rows: dict[str, models.Model] = {}  # what `data` names, for whoever draws the event right away

    def __str__(self) -> str:
        return f"{self.seq} {self.kind}"

    @classmethod
    def of(cls, kind: Kind, **rows: models.Model) -> Event:
        """An event that names these rows: `Event.of(Kind.STEP_BEGAN, step=step)`."""
        keys = {name: row.pk for name, row in rows.items()}
        data = {name: str(key) if isinstance(key, UUID) else key for name, key in keys.items()}
        event = cls(kind=kind, data=data)
        event.rows = rows
        return event


def has_all_after(agent: Agent, seq: int) -> bool:
    """Whether a page drawn at `seq` can be brought up to date from the agent's log; not where
    events after it were pruned, nor where the database is a backup from before."""
    return agent.pruned_seq <= seq <= agent.last_seq


def advance(agent: Agent, events: int, messages: int = 0) -> tuple[int, int]:
    """Take the next numbers of an agent's log and messages; holds the agent's row until commit.

    Returns the last `seq` and the last message number taken. ObjectDoesNotExist where the agent was
    deleted meanwhile.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE agents_agent SET last_seq = last_seq + %s, message_count = message_count + %s"
            " WHERE id = %s RETURNING last_seq, message_count",
            [events, messages, key(agent)],
        )
        if not (row := cursor.fetchone()):
            raise ObjectDoesNotExist("The agent was deleted.")
    agent.last_seq, agent.message_count = row
    return agent.last_seq, agent.message_count


def forget_texts(message: Message) -> None:
    """Delete a draft's pieces: its final form holds all they said."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM agents_event WHERE draft_id = %s", [message.pk])


_reading = threading.local()


def in_snapshot() -> bool:
    """Whether this thread reads inside `snapshot()`, which no other transaction may begin in."""
    return bool(getattr(_reading, "snapshot", False))


@contextmanager
def snapshot() -> Iterator[None]:
    """Read one moment of the database, and nothing but read: what a page is rendered from."""
    if connection.in_atomic_block:  # a test's transaction is one already
        yield
        return
    sqlite = connection.vendor == "sqlite"
    with connection.cursor() as cursor:
        if sqlite:
            cursor.execute("PRAGMA query_only = ON")
        cursor.execute("BEGIN" if sqlite else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        _reading.snapshot = True
        try:
            yield
        finally:
            _reading.snapshot = False
            cursor.execute("ROLLBACK")
            if sqlite:
                cursor.execute("PRAGMA query_only = OFF")
