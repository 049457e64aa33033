"""What a script may say of a run beyond its message."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import models
from django.utils import timezone

from .message import storable

PAUSES = [timedelta(seconds=each) for each in (30, 120, 600, 3600)]  # before it is sent again
LEASE = timedelta(seconds=60)  # so long nobody else sends it
CALLBACK_DUE = models.Index(
    fields=["callback_due_at"],
    condition=models.Q(callback_due_at__isnull=False),
    name="run_callback_due",
)


class ScriptRequest(models.Model):
    """The request of a script, as its run keeps it."""

    request_sha256 = models.CharField(
        max_length=64, blank=True, editable=False, help_text="Of a script's request that began it."
    )
    most_steps = models.PositiveIntegerField(
        null=True, editable=False, help_text="Its own limit of steps, below the agent's."
    )
    client_tools = models.JSONField(
        default=list,
        editable=False,
        help_text="Tools that the script runs: name, description and parameters of each.",
    )
    override_model = models.CharField(
        max_length=200, blank=True, editable=False, help_text="Answers instead of the agent's."
    )
    override_system = models.TextField(
        blank=True, editable=False, help_text="Is sent instead of the whole system message."
    )
    skills = models.TextField(
        blank=True, editable=False, help_text="What its script can do, as the system message says."
    )
    request_config = models.JSONField(
        default=dict, editable=False, help_text="How a script wants its messages shown."
    )

    sender_id = models.CharField(
        max_length=200,
        blank=True,
        editable=False,
        help_text="Who sent it, in a script's own words.",
    )
    background = models.BooleanField(
        default=False, editable=False, help_text="Its script waits for no answer, as it said."
    )

    callback_url = models.TextField(
        blank=True, editable=False, help_text="Where its end is told, by a POST."
    )
    callback_due_at = models.DateTimeField(
        null=True, editable=False, help_text="When the POST is due; empty where none is."
    )
    callback_tries = models.PositiveSmallIntegerField(default=0, editable=False)
    callback_sent_at = models.DateTimeField(null=True, editable=False)
    callback_status_code = models.PositiveSmallIntegerField(null=True, editable=False)
    callback_error = models.TextField(blank=True, editable=False)

    class Meta:
        abstract = True

    def owe_callback(self, due: bool) -> tuple[str, ...]:
        """Have the POST sent, if there is an address, or not; the fields that are to be stored."""
        self.callback_due_at = timezone.now() if due and self.callback_url else None
        self.callback_tries = 0
        return "callback_due_at", "callback_tries"

    def claim_callback(self) -> bool:
        """Become the one who sends the POST; False if another does, or it was tried enough.

        Whoever dies over it leaves it due again, a while later.
        """
        if self.callback_tries > len(PAUSES):
            self._store_callback(callback_due_at=None)
            return False
        until, tries = timezone.now() + LEASE, self.callback_tries + 1
        claimed = self._store_callback(callback_due_at=until, callback_tries=tries)
        self.callback_due_at, self.callback_tries = until, tries
        return claimed

    def note_callback(self, status: int | None, error: str, *, again: bool) -> None:
        """What came of the POST; `again`: it is sent once more, unless it was tried enough."""
        now, tried = timezone.now(), self.callback_tries
        more = again and tried <= len(PAUSES)
        self._store_callback(
            callback_sent_at=now,
            callback_status_code=status,
            callback_error=storable(error),
            callback_due_at=now + PAUSES[tried - 1] if more else None,
        )

    def _store_callback(self, **fields: Any) -> bool:
        """Store this, unless the run went on, or another process took the callback, meanwhile."""
        mine = type(self)._default_manager.filter(pk=self.pk, callback_due_at=self.callback_due_at)
        return bool(mine.update(**fields))
