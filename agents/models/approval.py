"""Approval: a tool call that waits until a person has seen it."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils import timezone

from .event import Event
from .message import storable
from .run import Run

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from .step import Step

EXPIRED = "nobody approved it in time, which counts as a refusal"


class ApprovalQuerySet(models.QuerySet["Approval"]):
    def pending(self) -> Self:
        return self.filter(status=Approval.Status.PENDING)

    def expire(self) -> int:
        """Refuse what waited too long, so that no agent waits for ever; how many there were."""
        overdue = self.pending().filter(expires_at__lte=timezone.now())
        return sum(approval.decide(Approval.Status.EXPIRED) for approval in overdue)


class Approval(models.Model):
    """One call that a rule or a block says a person must approve; the run waits meanwhile.

    `changes` are what it would write to blocks: `[{"label", "before", "after"}]`.
    """

    class Status(models.TextChoices):
        PENDING = "pending", "waits for approval"
        APPROVED = "approved", "approved"
        REFUSED = "refused", "refused"
        EXPIRED = "expired", "not approved in time"

    step = models.ForeignKey("Step", models.CASCADE, related_name="approvals")
    tool_call_id = models.CharField(max_length=200)
    why = models.CharField(max_length=300)
    changes = models.JSONField(default=list)
    status = models.CharField(max_length=10, choices=Status, default=Status.PENDING)
    arguments = models.TextField(blank=True, help_text="As a person changed them, JSON.")
    reason = models.TextField(blank=True, help_text="Why it was refused, for the agent.")
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
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
    def note(self) -> str:
        """What stands before the call's return: that a person changed its arguments."""
        if not self.arguments:
            return ""
        return f"(The person approved this with other arguments: {self.arguments})\n"

    @classmethod
    def ask(cls, run: Run, step: Step, call_id: str, why: str, changes: list[object]) -> Approval:
        """Ask a person; the run waits. Inside a transaction in which the run is held."""
        approval = cls.objects.create(
            step=step,
            tool_call_id=call_id,
            why=why,
            changes=changes,
            expires_at=timezone.now() + timedelta(hours=settings.APPROVAL_HOURS),
        )
        run.pause("Waiting for your approval", after=[step.changed()])
        return approval

    @transaction.atomic
    def decide(
        self, status: str, by: User | None = None, arguments: str = "", reason: str = ""
    ) -> bool:
        """Approve, with other arguments if some are given, or refuse; the run goes on.

        False if it was decided already. ValidationError for arguments that are no JSON object.
        """
        run = Run.objects.select_for_update().get(steps=self.step_id)
        mine = Approval.objects.pending().filter(pk=self.pk)
        self.status, self.reason = status, storable(reason).strip()
        self.arguments = checked_arguments(arguments) if arguments.strip() else ""
        decided = mine.update(
            status=status,
            reason=self.reason,
            arguments=self.arguments,
            decided_by=by,
            decided_at=timezone.now(),
        )
        if not decided:
            return False
        run.resume()
        run.agent.record(Event.of(Event.Kind.STEP_CHANGED, step=self.step))
        return True


def checked_arguments(text: str) -> str:
    """Arguments as a person wrote them, if they are a JSON object."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValidationError(f"The arguments are not JSON ({error}).") from None
    if not isinstance(given, dict):
        raise ValidationError("The arguments are not a JSON object of names and values.")
    return storable(text)
