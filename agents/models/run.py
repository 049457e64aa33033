"""Run: one message of a person answered, in as many steps as it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from django.conf import settings
from django.db import models, transaction
from django.utils import timezone

from .event import Event
from .image import Image, with_marks
from .lease import Leased
from .message import Message, checked
from .run_contents import RunContents
from .run_queryset import RunQuerySet
from .script_request import CALLBACK_DUE, ScriptRequest
from .signals import run_ended, run_ready

REQUIRES_APPROVAL = "requires_approval"  # where others have the reason why a run ended


class Run(Leased, ScriptRequest, RunContents):
    """A message of a person, from the moment it is accepted until it is answered.

    One run at a time goes on in each conversation; the others wait, in order.
    """

    class Status(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        WAITING = "waiting"  # until a tool call is approved, or a script returned it
        DONE = "done"
        STOPPED = "stopped"
        FAILED = "failed"

    ACTIVE = (Status.RUNNING, Status.WAITING)

    class Kind(models.TextChoices):
        MESSAGE = "message", "a message of the person"
        COMPACTION = "compaction", "a compaction by hand"
        REFLECTION = "reflection", "a reflection"

    class Reason(models.TextChoices):
        """Why a run ended."""

        ANSWERED = "end_turn", "answered"
        MAX_STEPS = "max_steps", "reached the step limit"
        NO_HEARTBEAT = "no_heartbeat", "ended after a tool call that asked for no further step"
        CANCELLED = "cancelled", "stopped"
        ERROR = "error", "failed"
        COMPACTED = "compacted", "compacted"
        GIVEN = "given", "written when the agent was created"
        FORKED = "forked", "copied from the agent it was forked from"
        NO_ROOM = "no_room", "nothing to compact: only the last exchange is in the context"

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
            CALLBACK_DUE,
        ]

    def __str__(self) -> str:
        return f"Run {self.pk}: {self.words[:60]}"

    @property
    def words(self) -> str:
        """Its text, with a mark for each of its images."""
        return with_marks(self.text, self.images)

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

    def acquire(self) -> None:
        """Become the one who works on this run; see `Leased`."""
        super().acquire()
        if self.attempt == 1:
            self.step_list, self.compaction_list = [], []  # nobody worked on it before

    @transaction.atomic
    def announce(self, activity: str) -> None:
        """Say what the agent is doing."""
        self.renew(activity)
        self.record(Event.of(Event.Kind.ACTIVITY, run=self))

    @transaction.atomic
    def stop(self) -> None:
        """Ask the run to stop; shown at once, done by whoever works on it."""
        mine = Run.objects.filter(pk=self.pk, status__in=self.ACTIVE, stop_requested=False)
        self.stop_requested, self.activity = True, "Stopping"
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
            self.activity = "Thinking"
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
        self.update("reason", "error", "status", "finished_at", "activity", *told)
        self.record(*after, Event.of(Event.Kind.RUN_CHANGED, run=self))
        self.conversation.begin_next()
        run_ended.send(Run, run=self)

    @transaction.atomic
    def retry(self, *, wants_room: bool = False) -> bool:
        """Go on with a run that failed, if nothing was said since; False if that cannot be."""
        self.agent.locked()
        last = self.conversation.last_run()
        if last is None or last.pk != self.pk or last.status != self.Status.FAILED:
            return False
        Run.objects.filter(pk=self.pk).update(
            status=self.Status.RUNNING,
            reason="",
            error="",
            activity="Thinking",
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
    def speaks_by_tool(self) -> bool:
        """MemGPT style: a tool's call ends the turn. A reflection talks to nobody."""
        return self.kind != self.Kind.REFLECTION and "send_message" in self.agent.tools

    @property
    def internal_id(self) -> int | None:
        """Its own key if what is said in it is no part of the conversation."""
        return self.pk if self.kind == self.Kind.REFLECTION else None

    @property
    def step_limit(self) -> int:
        """The number of steps after which it ends."""
        return min(self.most_steps or self.agent.max_steps, self.agent.max_steps)
