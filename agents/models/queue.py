"""Queue: how a conversation accepts messages: one run at a time goes on, the others wait."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from agents.text.excerpts import first_words

from .event import Event, advance
from .image import Image
from .limits import check_queue
from .message import Message, checked, storable
from .prepared_sql import PreparedRow, read, values
from .prepared_sql import key as key_of
from .quota_checks import check_message
from .run import REQUIRES_APPROVAL, Run
from .signals import run_ready
from .stored_bytes import check_storage

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from .agent import Agent
    from .conversation import Conversation

UNFINISHED = "WHERE conversation_id = %s AND status IN ('running', 'waiting', 'queued') LIMIT 1"
LOOK = f"""
SELECT (SELECT id FROM agents_run WHERE agent_id = %s AND key = %s),
    EXISTS (SELECT 1 FROM agents_run {UNFINISHED}),
    here.id, here.title, here.archived_at
FROM (SELECT 1 AS one) AS always LEFT JOIN agents_conversation here ON here.id = %s
"""


class Found(NamedTuple):
    """What a message finds: the run of the same key, whether others go on or wait, and the
    conversation as it is stored."""

    same: int | None
    busy: bool
    stored: Any
    title: str | None
    archived_at: Any


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
        self,
        text: str,
        key: str,
        images: Sequence[str] = (),
        author: User | None = None,
        *,
        files: Sequence[int] = (),
    ) -> Run:
        """Accept a message of somebody, the owner if nobody is named, with what it says of `files`
        of the agent; see `start`."""
        if files:
            text = self.agent.attached_files.with_notes(files, text)
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
        messages wait, or a quota of the author's, else of the owner's, is used up.
        """
        agent, text = self.agent, checked(text, images=bool(images))
        run = Run(agent=agent, key=storable(key), text=text, kind=kind, **options)
        run.conversation = self._conversation
        # Holds the agent's row, and takes the numbers that most messages need at the same time.
        advance(agent, events=1, messages=run.posts)
        found = self._look(run.key)
        if found.same:
            advance(agent, events=-1, messages=-run.posts)
            return Run.objects.get(pk=found.same)
        if kind != Run.Kind.REFLECTION:  # which is refused where it spends
            check_message(run, begins=not found.busy)
            check_storage(agent.owner_id, len(text.encode()))
        run.images = Image.name(agent, images)
        for message in run.before:
            if named := message.get("images"):
                message["images"] = Image.name(agent, named)
        noted = self._note_message(run, found)
        if found.busy:
            if kind != Run.Kind.REFLECTION:  # one waits at most, and may be due when a run ends
                check_queue(len(self.waiting_runs()))
            run.insert()
            changed = Event.of(Event.Kind.QUEUE_CHANGED)
            self.record(*noted, changed, messages=-run.posts, taken=1)
        else:
            self._begin(run, *noted, taken=1)
        return run

    def _look(self, key: str) -> Found:
        """What a message that is to be accepted finds, by one statement; with the agent's row
        held."""
        agent, conversation = key_of(self.agent), key_of(self)
        with connection.cursor() as cursor:
            cursor.execute(LOOK, [agent, key, conversation, conversation])
            return Found(*cursor.fetchone())

    def _note_message(self, run: Run, found: Found) -> list[Event]:
        """Note that something is said here; the first message gives the conversation its title.
        Returns what the log is to have of it."""
        title, archived_at = found.title or "", found.archived_at
        if not found.stored and self.pk != self.agent_id:
            raise ValidationError(gettext("This conversation was deleted; start another one."))
        if not found.stored:
            self.insert()
        if run.kind != Run.Kind.MESSAGE:
            return []
        self.title, self.archived_at = title or first_words(run.words), None
        self.last_message_at = timezone.now()
        self.update("title", "last_message_at", "archived_at")
        if archived_at or self.title != title:
            return [Event.of(Event.Kind.CONVERSATION_CHANGED, conversation=self)]
        return []

    def _begin(self, run: Run, *noted: Event, taken: int = 0) -> None:
        """Post a run's message and hand it to the engine; with the agent's row held.

        `noted` are events of before; `taken` says that `advance` took the numbers of an event and
        of the messages already.
        """
        run.status, run.started_at = Run.Status.RUNNING, timezone.now()
        run.activity = gettext_noop("Thinking")
        if run.pk:
            run.update("status", "started_at", "activity")
        else:
            run.waited_for_none = True
            run.insert()
        posted = self._posted(run)
        began = Event.of(Event.Kind.RUN_BEGAN, run=run)
        last = self.record(*noted, began, messages=0 if taken else run.posts, taken=taken)
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
        agents = type(self.agent).every
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

    def record(self, *events: Event, messages: int = 0, taken: int = 0) -> int:
        """Append to the agent's log what this conversation's pages draw; see `Agent.record`."""
        for event in events:
            event.conversation = self._conversation
        return self.agent.record(*events, messages=messages, taken=taken)
