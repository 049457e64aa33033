"""Run: one message of a person answered, in as many steps as it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

from django.conf import settings
from django.db import models, transaction
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from .event import Event
from .image import Image, with_marks
from .lease import Leased, silent_since
from .message import Message, checked
from .prepared_sql import key, update_and_look
from .run_contents import RunContents
from .run_queryset import RunQuerySet
from .script_request import CALLBACK_DUE, ScriptRequest
from .signals import run_ended, run_ready

WAITS = "EXISTS (SELECT 1 FROM agents_run WHERE conversation_id = %s AND status = 'queued')"
REQUIRES_APPROVAL = "requires_approval"  # where others have the reason why a run ended


class Run(Leased, ScriptRequest, RunContents):
    """A message of a person, from the moment it is accepted until it is answered.

    One run at a time goes on in each conversation; the others wait, in order.
    """

    class Status(models.TextChoices):
        QUEUED = "queued", _("Queued")
        RUNNING = "running", _("Running")
        WAITING = "waiting", _("Waiting")  # until a tool call is approved, or a script returned it
        DONE = "done", _("Done")
        STOPPED = "stopped", _("Stopped")
        FAILED = "failed", _("Failed")

    ACTIVE = (Status.RUNNING, Status.WAITING)

    class Kind(models.TextChoices):
        MESSAGE = "message", _("Message")
        COMPACTION = "compaction", _("Compaction")
        REFLECTION = "reflection", _("Reflection")

    class Reason(models.TextChoices):
        """Why a run ended."""

        ANSWERED = "end_turn", _("answered")
        MAX_STEPS = "max_steps", _("reached the step limit")
        NO_HEARTBEAT = "no_heartbeat", _("ended after a tool call that asked for no further step")
        CANCELLED = "cancelled", _("stopped")
        ERROR = "error", _("failed")
        COMPACTED = "compacted", _("compacted")
        GIVEN = "given", _("written when the agent was created")
        FORKED = "forked", _("copied from the agent it was forked from")
        NO_ROOM = "no_room", _("nothing to compact: only the last exchange is in the context")

    agent = models.ForeignKey("Agent", models.CASCADE, related_name="runs")
    conversation = models.ForeignKey("Conversation", models.CASCADE, related_name="runs")
    key = models.CharField(max_length=100)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.MESSAGE)
    text = models.TextField()
    images = models.JSONField(
        default=list, blank=True, editable=False, help_text="In order; see `Image.part`."
    )
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        editable=False,
        db_index=False,
        related_name="+",
    )
    role = models.CharField(max_length=10, default=Message.Role.USER, editable=False)
    before = models.JSONField(
        default=list,
        editable=False,
        help_text="Messages ahead of it: role, content, images.",
    )
    turn = models.BigIntegerField(
        null=True,
        editable=False,
        help_text="Of a message that was said again: what its versions have in common.",
    )
    wants_room = models.BooleanField(
        default=False,
        editable=False,
        help_text="Compact before the model is asked again.",
    )
    status = models.CharField(max_length=10, choices=Status, default=Status.QUEUED)
    reason = models.CharField(max_length=20, choices=Reason, blank=True)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = RunQuerySet.as_manager()

    waited_for_none = False  # it began when it was accepted, as there was no queue

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["agent", "key"], name="message_is_accepted_once"),
            models.UniqueConstraint(
                fields=["conversation"],
                condition=models.Q(status__in=["running", "waiting"]),
                name="one_run_at_a_time",
            ),
        ]
        indexes = [
            models.Index(fields=["status", "seen_at"], name="run_abandoned"),
            models.Index(fields=["conversation", "status"], name="run_of_conversation"),
            models.Index(
                fields=["turn"], condition=models.Q(turn__isnull=False), name="versions_of_turn"
            ),
            models.Index(fields=["created_at", "status", "reason"], name="run_by_time"),
            CALLBACK_DUE,
        ]

    def __str__(self) -> str:
        return gettext("Run %(number)s") % {"number": self.pk}

    @property
    def words(self) -> str:
        """Its text, with a mark for each of its images."""
        return with_marks(self.text, self.images)

    @property
    def posts(self) -> int:
        """How many messages it begins with."""
        return 0 if self.kind == self.Kind.COMPACTION else len(self.before) + 1

    def record(self, *events: Event, messages: int = 0) -> int:
        """Append to the agent's log what the conversation's pages draw; see `Agent.record`."""
        for event in events:
            event.conversation = self.conversation
        return self.agent.record(*events, messages=messages)

    # -- while it waits ------------------------------------------------------------------------

    @transaction.atomic
    def rewrite(self, text: str) -> bool:
        """Change a message that still waits; False if it no longer does."""
        text = checked(text, images=bool(self.images))
        return self._change_queued(lambda: Run.objects.filter(pk=self.pk).update(text=text))

    @transaction.atomic
    def withdraw(self) -> bool:
        """Take back a message that still waits; False if it no longer does."""
        return self._change_queued(self._forget)

    def _forget(self) -> None:
        self.delete()
        Image.delete_unnamed(self.agent)

    def _change_queued(self, change: Callable[[], object]) -> bool:
        self.agent.locked()
        if not Run.objects.queued().filter(pk=self.pk).exists():
            return False
        change()
        self.record(Event.of(Event.Kind.QUEUE_CHANGED))
        return True

    # -- going on --------------------------------------------------------------------------------

    @classmethod
    def acquire(cls, pk: int) -> Self | None:
        """Become the one who works on a run; see `Leased`."""
        run = super().acquire(pk)
        if run and run.attempt == 1:
            run.step_list, run.compaction_list = [], []  # nobody worked on it before
        return run

    @transaction.atomic
    def announce(self, activity: str) -> None:
        """Say what the agent is doing."""
        self.renew(activity)
        self.record(Event.of(Event.Kind.ACTIVITY, run=self))

    @transaction.atomic
    def stop(self) -> None:
        """Ask the run to stop; shown at once, done by whoever works on it."""
        mine = Run.objects.filter(pk=self.pk, status__in=self.ACTIVE, stop_requested=False)
        self.stop_requested, self.activity = True, gettext_noop("Stopping")
        if mine.update(stop_requested=True, activity=self.activity):
            self.refresh_from_db()
            if self.status == self.Status.WAITING:
                self.resume()
            self.record(Event.of(Event.Kind.ACTIVITY, run=self))

    @transaction.atomic
    def hand_on(self) -> None:
        """Let another worker go on with it at once. RunLost if one does already."""
        self.release()
        run_ready.send(Run, run=self)

    def pause(self, activity: str, after: Sequence[Event] = ()) -> None:
        """Let nobody work on it until its calls are decided on; where it is held (`renew`)."""
        self.status, self.activity, self.seen_at = self.Status.WAITING, activity, None
        self.update("status", "activity", "seen_at", *self.owe_callback(due=True))
        self.record(*after, Event.of(Event.Kind.ACTIVITY, run=self))

    def resume(self) -> None:
        """Hand a waiting run to the engine again; in a transaction that holds its row."""
        if self.status != self.Status.WAITING:
            return
        self.status, self.seen_at, self.tries = self.Status.RUNNING, None, 0
        if not self.stop_requested:
            self.activity = gettext_noop("Thinking")
        self.update("status", "activity", "seen_at", "tries", *self.owe_callback(due=False))
        self.record(Event.of(Event.Kind.ACTIVITY, run=self))
        run_ready.send(Run, run=self)

    # -- ending ----------------------------------------------------------------------------------

    def end(self, reason: str, error: str = "", after: Sequence[Event] = ()) -> None:
        """End the run and begin the next that waits; where the run is held (`renew`).

        `after` are the events of what led to the end.
        """
        self.reason, self.error = reason, error
        self.status = {
            self.Reason.CANCELLED: self.Status.STOPPED,
            self.Reason.ERROR: self.Status.FAILED,
        }.get(self.Reason(reason), self.Status.DONE)
        self.finished_at, self.activity = timezone.now(), ""
        told = self.owe_callback(due=True)
        self.record(*after, Event.of(Event.Kind.RUN_CHANGED, run=self))
        names = ("reason", "error", "status", "finished_at", "activity", *told)
        if update_and_look(self, names, WAITS, key(self.conversation)):
            self.conversation.begin_next()
        run_ended.send(Run, run=self)

    @transaction.atomic
    def retry(self, *, wants_room: bool = False) -> bool:
        """Go on with a run that failed or gave no answer, if nothing was said since; False if that
        cannot be."""
        self.agent.locked()
        last = self.conversation.last_run()
        if last is None or last.pk != self.pk:
            return False
        if last.status != self.Status.FAILED and not last.is_unanswered():
            return False
        Run.objects.filter(pk=self.pk).update(
            status=self.Status.RUNNING,
            reason="",
            error="",
            activity=gettext_noop("Thinking"),
            stop_requested=False,
            wants_room=wants_room,
            tries=0,
            seen_at=None,
            finished_at=None,
            callback_due_at=None,
        )
        self.refresh_from_db()
        self.record(Event.of(Event.Kind.RUN_CHANGED, run=self))
        run_ready.send(Run, run=self)
        return True

    # -- what kind of run it is ------------------------------------------------------------------

    @property
    def model_handle(self) -> str:
        """What answers, as it was chosen for the run, the conversation or the agent."""
        return self.override_model or self.conversation.model or self.agent.model

    @property
    def payer_id(self) -> int:
        """Whose quotas its calls count on: those of who wrote the message, else the owner's."""
        return self.author_id or self.agent.owner_id

    @property
    def speaks_by_tool(self) -> bool:
        """MemGPT style: a tool's call ends the turn. A reflection talks to nobody."""
        return self.kind != self.Kind.REFLECTION and "send_message" in self.agent.tools

    def is_stuck(self) -> bool:
        """Whether it goes on, but nobody gave a sign of life for too long."""
        sign = self.seen_at or self.started_at or self.created_at
        return self.status == self.Status.RUNNING and sign < silent_since()

    @property
    def internal_id(self) -> int | None:
        """Its own key if what is said in it is no part of the conversation."""
        return self.pk if self.kind == self.Kind.REFLECTION else None

    @property
    def step_limit(self) -> int:
        """The number of steps after which it ends."""
        return min(self.most_steps or self.agent.max_steps, self.agent.max_steps)
