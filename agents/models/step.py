"""Step: one model call inside a run, with its tool calls."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from django.utils.functional import cached_property

from .block_edit import BlockEdit
from .event import Event
from .message import Message, ToolCall
from .statements import update


class Step(models.Model):
    """One model call: which model answered, how it ended, and why another step followed."""

    class Status(models.TextChoices):
        STREAMING = "streaming"
        CALLING = "calling"  # the message is complete, its tools are run
        DONE = "done"
        FAILED = "failed"  # the model broke off or refused; `error` says how
        STOPPED = "stopped"

    run = models.ForeignKey("Run", models.CASCADE, related_name="steps")
    number = models.PositiveIntegerField()
    status = models.CharField(max_length=10, choices=Status, default=Status.STREAMING)
    model = models.CharField(max_length=200)
    endpoint = models.CharField(max_length=300)
    left_context = models.PositiveIntegerField(
        default=0, help_text="Messages that no longer fitted the context window before this step."
    )
    context_tokens = models.PositiveIntegerField(
        default=0, help_text="Tokens of the request, estimated before it was sent."
    )
    prompt_tokens = models.PositiveIntegerField(null=True, blank=True)
    completion_tokens = models.PositiveIntegerField(null=True, blank=True)
    outcome = models.CharField(max_length=500, blank=True)
    error = models.TextField(blank=True)
    started_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="step_number_is_unique"),
        ]

    def __str__(self) -> str:
        return f"Step {self.number}"

    @cached_property
    def said(self) -> list[Message]:
        """The step's messages in order: the model's, then the tools' returns."""
        return list(self.messages.all())

    @cached_property
    def edits(self) -> list[BlockEdit]:
        """The block edits its tool calls made."""
        return list(self.block_edits.all())

    @property
    def message(self) -> Message | None:
        """What the model said in this step."""
        return next((m for m in self.said if m.role == Message.Role.ASSISTANT), None)

    def returns(self) -> dict[str, Message]:
        """The return of each call that has run, by its id."""
        return {m.tool_call_id: m for m in self.said if m.role == Message.Role.TOOL}

    def unanswered(self) -> list[ToolCall]:
        """The tool calls that have no return yet: these have not run."""
        answered = self.returns()
        calls = self.message.calls() if self.message else []
        return [call for call in calls if call.id not in answered]

    def cards(self) -> list[tuple[ToolCall, Message | None, list[BlockEdit]]]:
        """Each tool call with its return and the block edits it made."""
        if not self.message or not self.message.tool_calls:
            return []
        returns = self.returns()
        edits: dict[str, list[BlockEdit]] = {}
        for edit in self.edits:
            edits.setdefault(edit.tool_call_id, []).append(edit)
        return [(c, returns.get(c.id), edits.get(c.id, [])) for c in self.message.calls()]

    def changed(self) -> Event:
        """The event that has the step drawn anew."""
        return Event.of(Event.Kind.STEP_CHANGED, step=self)

    def store(self) -> None:
        """Store what may have changed since the step began."""
        update(
            self, "status", "prompt_tokens", "completion_tokens", "outcome", "error", "finished_at"
        )

    def end(self, outcome: str, reason: str = "") -> None:
        """Close the step, saying what it came to; with a reason (`Run.Reason`), the run too."""
        self.status, self.outcome, self.finished_at = self.Status.DONE, outcome, timezone.now()
        self.store()
        if reason:
            self.run.end(reason, after=[self.changed()])
        else:
            self.run.agent.record(self.changed())

    @property
    def seconds(self) -> float | None:
        """How long the step took."""
        if not self.finished_at:
            return None
        return (self.finished_at - self.started_at).total_seconds()
