"""Queue: how a conversation accepts messages: one run at a time goes on, the others wait."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from agents.text.excerpts import first_words

from .event import Event, advance
from .image import Image
from .limits import check_queue
from .message import Message, checked, storable
from .prepared_sql import PreparedRow, read, values
from .prepared_sql import key as key_of
from .run import REQUIRES_APPROVAL, Run
from .signals import run_ready

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from .agent import Agent
    from .conversation import Conversation

UNFINISHED = "WHERE conversation_id = %s AND status IN ('running', 'waiting', 'queued') LIMIT 1"


class Queue(PreparedRow):
    """What a conversation is to those who send messages."""

    title: Any
    last_message_at: Any
    archived_at: Any
    context_from: Any

    if TYPE_CHECKING:
        agent: Agent
        agent_id: UUID

    class Meta:
        abstract = True

    @property
    def _conversation(self) -> Conversation:
        return cast("Conversation", self)

    def send(
        self, text: str, key: str, images: Sequence[str] = (), author: User | None = None
    ) -> Run:
        """Accept a message of somebody, the owner if nobody is named; see `start`."""
        return self.start(text, key, images=images, author=author)

    @transaction.atomic
    def start(
        self,
        text: str,
        key: str,
        kind: str = Run.Kind.MESSAGE,
        *,
        images: Sequence[str] = (),
        **options: Any,
    ) -> Run:
        """Accept a message, or work of another kind: begin its run, or queue it behind others.

        The same `key` again, to the same agent, gives the same run. `images` are the SHA-256s of
        the agent's. `options` are whose message it is, `author`, and what a script may add: `role`,
        `before` (where images are named likewise), and the fields of `ScriptRequest`. Raises
        ValidationError for a text that is empty or over 100,000 characters, for images that are too
        many or not there, and where the conversation was deleted; LimitReached where too many
        messages wait.
        """
        agent, text = self.agent, checked(text, images=bool(images))
        run = Run(agent=agent, key=storable(key), text=text, kind=kind, **options)
        run.conversation = self._conversation
        advance(agent, 0)  # holds the agent's row
        if same := read(Run, "WHERE agent_id = %s AND key = %s", key_of(agent), run.key):
            return same[0]
        run.images = Image.name(agent, images)
        for message in run.before:
            if named := message.get("images"):
                message["images"] = Image.name(agent, named)
        self._note_message(run)
        if values(Run, ("id",), UNFINISHED, key_of(self)):
            if kind != Run.Kind.REFLECTION:  # one waits at most, and may be due when a run ends
                check_queue(len(self.waiting_runs()))
            run.insert()
            self.record(Event.of(Event.Kind.QUEUE_CHANGED))
        else:
            self._begin(run)
        return run

    def _note_message(self, run: Run) -> None:
        """Note that something is said here; the first message gives the conversation its title."""
        found = values(type(self), ("title", "archived_at"), "WHERE id = %s", key_of(self))
        if not found and self.pk != self.agent_id:
            raise ValidationError("This conversation was deleted; start another one.")
        if not found:
            self.insert()
        title, archived_at = found[0] if found else ("", None)
        if run.kind != Run.Kind.MESSAGE:
            return
        self.title, self.archived_at = title or first_words(run.words), None
        self.last_message_at = timezone.now()
        self.update("title", "last_message_at", "archived_at")
        if archived_at or self.title != title:
            self.record(Event.of(Event.Kind.CONVERSATION_CHANGED, conversation=self))

    def _begin(self, run: Run) -> None:
        """Post a run's message and hand it to the engine; with the agent's row held."""
        run.status, run.started_at = Run.Status.RUNNING, timezone.now()
        run.activity = "Thinking"
        if run.pk:
            run.update("status", "started_at", "activity")
        else:
            run.insert()
        posted = self._posted(run)
        last = self.record(Event.of(Event.Kind.RUN_BEGAN, run=run), messages=len(posted))
        if posted and self.agent.message_buffer_autoclear and run.internal_id is None:
            self.context_from = last - len(posted) + 1
            self.update("context_from")
        run.message_list, run.step_list, run.compaction_list = posted, [], []
        for number, message in enumerate(posted, last - len(posted) + 1):
            message.number = number
            message.insert()
        run_ready.send(Run, run=run)

    def _posted(self, run: Run) -> list[Message]:
        """The messages a run begins with: what a script put ahead, then its text."""
        if run.kind == Run.Kind.COMPACTION:
            return []
        own = {"role": run.role, "content": run.text, "images": run.images}
        given = [*run.before, own | {"sender_id": run.sender_id, "said_by": self._name(run)}]
        of = {"agent": self.agent, "conversation": self, "run": run}
        return [Message(**of, internal=run.internal_id is not None, **each) for each in given]

    def _name(self, run: Run) -> str:
        """Whose message it is, where several people may talk to the agent."""
        author = run.author if self.agent.is_shared and run.kind == Run.Kind.MESSAGE else None
        return author.get_username() if author else ""

    def begin_next(self) -> None:
        """Begin the message that waits longest; those of a deleted agent wait until it is restored.
        With the agent's row held."""
        waiting = self.waiting_runs()
        agents = type(self.agent).objects
        if waiting and agents.filter(pk=self.agent_id, deleted_at=None).exists():
            waiting[0].agent, waiting[0].conversation = self.agent, self._conversation
            self._begin(waiting[0])

    def waiting_runs(self) -> list[Run]:
        """The messages that wait, the next one first."""
        return read(
            Run, "WHERE conversation_id = %s AND status = 'queued' ORDER BY id", key_of(self)
        )

    def current_run(self) -> Run | None:
        """The run that goes on, if any, also where it waits for an approval."""
        return Run.objects.filter(conversation=self.pk, status__in=Run.ACTIVE).first()

    def last_run(self) -> Run | None:
        """The newest run that is no longer waiting."""
        begun = Run.objects.filter(conversation=self.pk).exclude(status=Run.Status.QUEUED)
        return begun.order_by("-pk").first()

    def has_unfinished_runs(self) -> bool:
        return bool(values(Run, ("id",), UNFINISHED, key_of(self)))

    def last_end(self) -> tuple[datetime | None, str]:
        """When and why its newest run ended that has begun; it may only wait by now."""
        newest = "WHERE conversation_id = %s AND status <> 'queued' ORDER BY id DESC LIMIT 1"
        found = values(Run, ("finished_at", "reason", "status"), newest, key_of(self))
        if not found:
            return None, ""
        ended, reason, status = found[0]
        return ended, REQUIRES_APPROVAL if status == Run.Status.WAITING else reason

    def record(self, *events: Event, messages: int = 0) -> int:
        """Append to the agent's log what this conversation's pages draw; see `Agent.record`."""
        for event in events:
            event.conversation = self._conversation
        return self.agent.record(*events, messages=messages)
