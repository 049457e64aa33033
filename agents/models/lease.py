"""Lease: who works on a run, as told by signs of life; a worker that gives none loses it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Self

from django.conf import settings
from django.db import connection, models
from django.utils import timezone

from .leaving import RunHandedOn, is_overdue
from .prepared_sql import changed


class RunLost(Exception):
    """Another worker has taken the run up, or it is gone: whoever held it lets go."""


class RunStopped(Exception):
    """A person pressed Stop."""


class Leased(models.Model):
    """What a run is held by: one worker at a time, for as long as it gives signs of life.

    `seen_at` is the last of them, None while no worker has it; `attempt` rises when one acquires
    it, and so do `tries`, which begin anew where a person has it go on. `activity` says what the
    agent is doing.
    """

    activity = models.TextField(blank=True)
    stop_requested = models.BooleanField(default=False)
    attempt = models.PositiveIntegerField(default=0)
    tries = models.PositiveIntegerField(default=0, editable=False)
    seen_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    @classmethod
    def acquire(cls, pk: int) -> Self | None:
        """Become the one who works on a run; None if it is not to be worked on, or somebody else
        has it, and lives.

        A worker that was given up as dead, and was only slow, finds out at its next write.
        """
        now, silent = map(database_time, (timezone.now(), silent_since()))
        return changed(
            cls,
            "attempt = attempt + 1, tries = tries + 1, seen_at = %s WHERE id = %s"
            " AND status = 'running' AND (seen_at IS NULL OR seen_at < %s)",
            *(now, pk, silent),
        )

    def renew(self, activity: str | None = None) -> None:
        """First write of each of the loop's transactions: RunLost if another worker took the run.

        A sign of life, and a look at whether somebody asked to stop, in one query.
        """
        said = "" if activity is None else ", activity = %(activity)s"
        with connection.cursor() as cursor:
            cursor.execute(
                f"UPDATE agents_run SET seen_at = %(now)s{said} WHERE id = %(id)s"
                " AND attempt = %(attempt)s AND status = 'running' RETURNING stop_requested",
                {
                    "now": database_time(timezone.now()),
                    "activity": activity,
                    "id": self.pk,
                    "attempt": self.attempt,
                },
            )
            row = cursor.fetchone()
        if row is None:
            raise RunLost
        self.stop_requested = bool(row[0])
        self.activity = self.activity if activity is None else activity

    def renew_or_stop(self, activity: str | None = None) -> None:
        """`renew`, and RunStopped if a person asked to stop, RunHandedOn if this process ends."""
        self.renew(activity)
        if self.stop_requested:
            raise RunStopped
        if is_overdue():
            raise RunHandedOn

    def release(self) -> None:
        """Let go of the run, for another worker to acquire; that is no failed try."""
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE agents_run SET seen_at = NULL, tries = tries - 1"
                " WHERE id = %s AND attempt = %s AND status = 'running'",
                [self.pk, self.attempt],
            )
            if not cursor.rowcount:
                raise RunLost


def database_time(moment: datetime) -> Any:
    """A moment as the database takes it."""
    return connection.ops.adapt_datetimefield_value(moment)


def silent_since() -> datetime:
    """A worker that has given no sign since then counts as dead."""
    return timezone.now() - timedelta(seconds=settings.RUN_LEASE_SECONDS)
