"""A run's job in the queue of the workers; for the hosted form, which has its library."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import BigIntegerField, Exists, OuterRef, Q
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.utils import timezone
from procrastinate.contrib.django.django_connector import DjangoConnector
from procrastinate.contrib.django.models import ProcrastinateJob
from procrastinate.exceptions import AlreadyEnqueued
from procrastinate.job_context import JobContext
from procrastinate.manager import JobManager
from procrastinate.tasks import configure_task
from structlog.contextvars import bound_contextvars

EXECUTE, QUEUE = "execute_run", "runs"  # the task's name, and the queue it waits in

# A worker's app talks to the database over connections of its own, where a job would be there
# before the run that it is for. Jobs are always stored over Django's connection instead.
_same_transaction = JobManager(DjangoConnector())


def defer_run(run_id: int) -> None:
    """Store the job that executes a run, in the transaction that is open."""
    configure_task(name=EXECUTE, job_manager=_same_transaction, queue=QUEUE).defer(run_id=run_id)


def defer_once(name: str) -> None:
    """Store a job of a task without arguments, unless one waits already."""
    job = configure_task(name=name, job_manager=_same_transaction, queue=QUEUE, queueing_lock=name)
    with suppress(AlreadyEnqueued), transaction.atomic():
        job.defer()


def with_job_id(call_next: Callable[[], Any], context: JobContext, worker: object) -> Any:
    """Around each job: what is logged for it names it."""
    with bound_contextvars(job_id=context.job.id, task=context.job.task_name):
        return call_next()


def has_job() -> Exists:
    """Whether a run, as the outer query names it, has a job that waits or is being done."""
    alive = timezone.now() - timedelta(
        seconds=settings.PROCRASTINATE_WORKER_DEFAULTS["stalled_worker_timeout"]
    )
    of_run = ProcrastinateJob.objects.annotate(
        run_id=Cast(KeyTextTransform("run_id", "args"), BigIntegerField())
    ).filter(task_name=EXECUTE, run_id=OuterRef("pk"))
    return Exists(
        of_run.filter(Q(status="todo") | Q(status="doing", worker__last_heartbeat__gte=alive))
    )
