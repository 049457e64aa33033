"""Approval: a tool call that waits, for a person to approve it or for a script to run it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from .event import Event
from .message import storable
from .run import Run

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from .step import Step

WAITS_FOR_PERSON = gettext_noop("Waiting for your approval")
WAITS_FOR_SCRIPT = gettext_noop("Waiting for a script’s return")
LONGEST_RETURN = 50_000  # characters of what a script returns for a call


class Decision(NamedTuple):
    """What somebody says about a call that waits.

    `returned` is what a script's own tool gave back, as its client sends it: `tool_return`,
    `status` ("success" or "error"), `stdout` and `stderr`, which are lists of texts.
    """

    status: str
    reason: str = ""
    arguments: str = ""
    returned: dict[str, Any] | None = None

    @classmethod
    def of_return(
        cls,
        text: str,
        status: str,
        stdout: Sequence[str] | None = None,
        stderr: Sequence[str] | None = None,
    ) -> Self:
        """What a tool returned elsewhere, cut where it is too long to be kept."""
        returned = {
            "tool_return": shortened(text),
            "status": status,
            "stdout": stdout and [shortened(line) for line in stdout],
            "stderr": stderr and [shortened(line) for line in stderr],
        }
        return cls(Approval.Status.RETURNED, returned=returned)


def shortened(text: str) -> str:
    """A text that a script gives, as it is kept."""
    if len(text) > LONGEST_RETURN:
        left_out = f"{len(text) - LONGEST_RETURN:,} of {len(text):,}"
        text = f"{text[:LONGEST_RETURN]}\n[Cut here: {left_out} characters left out.]"
    return storable(text)


class ApprovalQuerySet(models.QuerySet["Approval"]):
    def pending(self) -> Self:
        return self.filter(status=Approval.Status.PENDING)

    def expire(self) -> int:
        """Refuse what waited too long, so that no agent waits for ever; how many there were."""
        overdue = self.pending().filter(expires_at__lte=timezone.now())
        return sum(approval.decide(Approval.Status.EXPIRED) for approval in overdue)


class Approval(models.Model):
    """One call that waits, and with it the run: until a person approves it, as a rule, a tool or a
    block demands, or until the script that brought the tool along (`Run.client_tools`) returns.

    `changes` are what it would write to blocks: `[{"label", "before", "after"}]`.
    """

    class Kind(models.TextChoices):
        PERSON = "person", _("a person approves it")
        CLIENT = "client", _("a script runs it")

    class Status(models.TextChoices):
        PENDING = "pending", _("waits")
        APPROVED = "approved", _("approved")
        REFUSED = "refused", _("refused")
        RETURNED = "returned", _("return given")
        EXPIRED = "expired", _("not answered in time")
        STOPPED = "stopped", _("not answered before the agent was stopped")

    step = models.ForeignKey("Step", models.CASCADE, related_name="approvals")
    tool_call_id = models.CharField(max_length=200)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.PERSON)
    why = models.CharField(max_length=300)
    changes = models.JSONField(default=list)
    status = models.CharField(max_length=10, choices=Status, default=Status.PENDING)
    arguments = models.TextField(blank=True, help_text=_("As a person changed them, JSON."))
    reason = models.TextField(blank=True, help_text=_("Why it was refused, for the agent."))
    returned = models.JSONField(
        null=True, blank=True, help_text=_("What a script gave back in place of the tool.")
    )
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)

    objects = ApprovalQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["step", "tool_call_id"], name="call_is_asked_once"),
        ]
        indexes = [
            models.Index(
                fields=["expires_at"], condition=models.Q(status="pending"), name="pending_expiry"
            )
        ]

    def __str__(self) -> str:
        return f"{self.tool_call_id}: {self.status}"

    @property
    def is_pending(self) -> bool:
        return self.status == self.Status.PENDING

    @property
    def note(self) -> str:
        """What stands before the call's return: that a person changed its arguments."""
        if not self.arguments:
            return ""
        return f"(The person approved this with other arguments: {self.arguments})\n"

    @property
    def refusal(self) -> str:
        """What the model is told of a call that nobody approved or returned."""
        if self.status == self.Status.STOPPED:
            return "not run, because the person stopped the agent."
        expired = self.status == self.Status.EXPIRED
        if self.kind == self.Kind.CLIENT:
            if expired:
                return "no return: the script that runs this tool gave none in time."
            return f"not run, because the script refused it: {self.reason or 'it gave no reason'}"
        if expired:
            return "not run: nobody approved it in time, which counts as a refusal."
        return f"not run, because the person refused it: {self.reason or 'no reason was given'}"

    @classmethod
    def ask(cls, run: Run, step: Step, questions: Sequence[Approval]) -> None:
        """Store what is asked about calls of a step, and let the run wait.

        Inside a transaction in which the run is held. What is asked at once has one `created_at`.
        """
        now = timezone.now()
        for question in questions:
            question.step, question.created_at = step, now
            question.expires_at = now + timedelta(hours=settings.APPROVAL_HOURS)
            question.save(force_insert=True)
        cls.wait_for(questions, run, step)
        cls._redraw_blocks(run, questions)

    @staticmethod
    def _redraw_blocks(run: Run, questions: Iterable[Approval]) -> None:
        """Have the panels of all the agent's conversations show what waits for an approval now."""
        if any(question.changes for question in questions):
            run.agent.record(Event.of(Event.Kind.MEMORY_CHANGED))

    @classmethod
    def wait_for(cls, questions: Sequence[Approval], run: Run, step: Step) -> None:
        """Let the run wait for these, where it is held."""
        approves = any(question.kind == cls.Kind.PERSON for question in questions)
        activity = WAITS_FOR_PERSON if approves else WAITS_FOR_SCRIPT
        run.pause(activity, after=[step.changed()])

    def decide(
        self, status: str, by: User | None = None, arguments: str = "", reason: str = ""
    ) -> bool:
        """Decide on this call alone; see `decide_all`. False if it was decided already."""
        return bool(self.decide_all([(self, Decision(status, reason, arguments))], by))

    @classmethod
    @transaction.atomic
    def decide_all(
        cls, decisions: Sequence[tuple[Approval, Decision]], by: User | None = None
    ) -> int:
        """Decide on calls of one step; the run goes on once none of its calls waits.

        How many had not been decided already: those stay as they are. ValidationError for changed
        arguments that are no JSON object, and for approving a call that a script runs.
        """
        step_id = decisions[0][0].step_id
        run = Run.objects.select_for_update(of=("self",)).get(steps=step_id)
        now = timezone.now()
        decided = sum(each._decide(decision, by, now) for each, decision in decisions)
        if decided:
            run.record(Event.of(Event.Kind.STEP_CHANGED, step=decisions[0][0].step))
            cls._redraw_blocks(run, [each for each, _ in decisions])
            if not cls.objects.pending().filter(step=step_id).exists():
                run.resume()
        return decided

    def _decide(self, decision: Decision, by: User | None, now: datetime) -> int:
        if self.kind == self.Kind.CLIENT and decision.status == self.Status.APPROVED:
            raise ValidationError(
                gettext("A script runs this tool: give what it returned, or refuse it.")
            )
        changed = decision.arguments.strip()
        decided = {
            "status": decision.status,
            "reason": storable(decision.reason).strip(),
            "arguments": checked_arguments(decision.arguments) if changed else "",
            "returned": decision.returned,
            "decided_at": now,
        }
        mine = Approval.objects.pending().filter(pk=self.pk)
        if not mine.update(**decided, decided_by=by):
            return 0
        for name, value in decided.items():
            setattr(self, name, value)
        return 1

    def withdraw(self) -> None:
        """Ask no more: the run was stopped. Where the run is held (`renew`)."""
        self.status, self.decided_at = self.Status.STOPPED, timezone.now()
        self.save(update_fields=["status", "decided_at"])
        self._redraw_blocks(self.step.run, [self])


def checked_arguments(text: str) -> str:
    """Arguments as a person wrote them, if they are a JSON object."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        words = gettext("The arguments are not JSON (%(error)s).")
        raise ValidationError(words % {"error": error}) from None
    if not isinstance(given, dict):
        raise ValidationError(gettext("The arguments are not a JSON object of names and values."))
    return storable(text)
