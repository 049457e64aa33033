"""Retention: what nobody needs any more is deleted after some days, a batch at a time.

Between two batches everybody else gets at the database. What the ledger, the transcript and time
travel read stays for as long as its agent.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from uuid import UUID

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.db import connection, models
from django.db.models import Exists, OuterRef
from django.utils import timezone

from agents.models import AuditEntry, Event, RequestText, Step
from agents.models.leaving import is_leaving

BATCH = 500  # rows
PAUSE_SECONDS = 0.02  # after each batch; on SQLite nobody else writes during one

OLD_JOBS = """
DELETE FROM procrastinate_jobs WHERE id IN (
    SELECT job.id FROM procrastinate_jobs job
    WHERE (job.status NOT IN ('todo', 'doing') OR job.status = 'doing' AND job.worker_id IS NULL)
    AND NOT EXISTS (
        SELECT 1 FROM procrastinate_events event WHERE event.job_id = job.id AND event.at >= %s)
    ORDER BY job.id LIMIT %s FOR UPDATE SKIP LOCKED)
"""


def prune() -> None:
    """Delete what is older than the settings say."""
    for name, batches in KINDS.items():
        days = settings.KEEP_DAYS[name]
        if not days:
            continue
        for _ in batches(timezone.now() - timedelta(days=days)):
            if is_leaving():
                return
            time.sleep(PAUSE_SECONDS)


def jobs(before: datetime) -> Iterator[None]:
    """Jobs that ended or lost their worker; those that succeeded it has deleted already."""
    deleted = BATCH if settings.HOSTED else 0
    while deleted == BATCH:
        with connection.cursor() as cursor:
            cursor.execute(OLD_JOBS, [before, BATCH])
            deleted = cursor.rowcount
        yield


def sessions(before: datetime) -> Iterator[None]:
    """Log-ins that have ended, and from where they were."""
    yield from in_batches(Session.objects.filter(expire_date__lt=before))
    there = Session.objects.filter(session_key=OuterRef("session_key"))
    yield from in_batches(UserSession.objects.filter(~Exists(there), last_seen_at__lt=before))


def audit(before: datetime) -> Iterator[None]:
    """Who did what, and what was done in the admin."""
    yield from in_batches(AuditEntry.objects.filter(at__lt=before))
    yield from in_batches(LogEntry.objects.filter(action_time__lt=before))


def in_batches(rows: models.QuerySet[models.Model]) -> Iterator[None]:
    """Delete rows that no other rows belong to, and that nobody is told of."""
    manager = rows.model._default_manager
    while keys := list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH]):
        manager.filter(pk__in=keys)._raw_delete(rows.db)
        yield


def events(before: datetime) -> Iterator[None]:
    """The log, which brings pages up to date; older ones reload themselves."""
    last: int | None = 0
    while last is not None:
        last = Event.objects.all().prune(before, last)
        yield


def requests(before: datetime) -> Iterator[None]:
    """What the requests of steps were made of, then the texts that no step names any more."""
    last: int | None = 0
    agents: set[UUID] = set()
    while last is not None:
        last, of_agents = Step.objects.all().prune_requests(
            before, settings.KEEP_DAYS["requests"], last
        )
        agents |= of_agents
        yield
    for agent in agents:
        while RequestText.prune(agent):
            yield


KINDS: dict[str, Callable[[datetime], Iterator[None]]] = {
    "jobs": jobs,
    "sessions": sessions,
    "events": events,
    "requests": requests,
    "audit": audit,
}
