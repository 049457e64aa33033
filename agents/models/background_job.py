"""BackgroundJob: a file on its way into an agent, worked on by one worker at a time.

What is done is stored in the same transaction as how far the job is, so whoever goes on after a
crash begins with what follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from django.conf import settings
from django.db import models
from django.utils import timezone

from .lease import silent_since

MOST_TRIES = 5  # how often a job is taken up again without getting further


class JobLost(Exception):
    """Another worker goes on with the job, or it is gone: whoever held it lets go."""


class BackgroundJobQuerySet(models.QuerySet[Any]):
    def due(self) -> Self:
        """Those on which somebody should work and nobody does."""
        idle = models.Q(seen_at=None) | models.Q(seen_at__lt=silent_since())
        return self.filter(idle, status__in=self.model.WORKED_ON, agent__deleted_at=None)

    def acquire(self) -> Any:
        """Become the one who works on the oldest that is due; None where there is none."""
        for pk in self.due().order_by("pk").values_list("pk", flat=True):
            attempt, tries = models.F("attempt") + 1, models.F("tries") + 1
            mine = self.due().filter(pk=pk)
            if mine.update(attempt=attempt, tries=tries, seen_at=timezone.now()):
                return self.select_related("agent__owner", "user").get(pk=pk)
        return None


class BackgroundJob(models.Model):
    """Who works on it, and since when. A kind of job has an `agent`, and a `status` that says what
    is to be done where it is in `WORKED_ON`.

    `seen_at` is the worker's last sign of life, None while no worker has it.
    """

    WORKED_ON: ClassVar[Sequence[str]] = ()

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+", editable=False
    )
    name = models.CharField(max_length=200)
    error = models.TextField(blank=True)
    attempt = models.PositiveIntegerField(default=0)
    tries = models.PositiveIntegerField(default=0)
    seen_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    if TYPE_CHECKING:
        status: Any

    class Meta:
        abstract = True
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.name

    @property
    def goes_on(self) -> bool:
        return self.status in self.WORKED_ON

    def keep(self, **changes: object) -> None:
        """A sign of life, together with how far it is; JobLost if somebody else has it."""
        rows = type(self)._default_manager
        mine = rows.filter(models.Q(status__in=self.WORKED_ON), pk=self.pk, attempt=self.attempt)
        if not mine.update(seen_at=timezone.now(), **changes):
            raise JobLost
        for name, value in changes.items():
            setattr(self, name, value)

    def release(self) -> None:
        """Let go of it, for another worker or another time."""
        rows = type(self)._default_manager
        rows.filter(pk=self.pk, attempt=self.attempt).update(seen_at=None)
