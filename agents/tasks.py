"""The engine's jobs, for `manage.py procrastinate worker`. Imported on Postgres only."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db.models import BigIntegerField, Exists, OuterRef, Q
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.utils import timezone
from procrastinate.contrib.django import app
from procrastinate.contrib.django.django_connector import DjangoConnector
from procrastinate.contrib.django.models import ProcrastinateJob
from procrastinate.manager import JobManager
from procrastinate.tasks import configure_task

from .models import Agent, Approval
from .models.searchable import make_all_terms
from .runs import engine
from .search import embedder

# A worker's app talks to the database over connections of its own, where a job would be there
# before the run that it is for. Jobs are always stored over Django's connection instead.
_same_transaction = JobManager(DjangoConnector())


@app.task(queue="runs", name="execute_run", pass_context=False)
def execute_run(run_id: int) -> None:
    """Execute a run; the job was committed with the message it answers."""
    engine.execute(run_id)


def defer_run(run_id: int) -> None:
    """Store the job that executes a run, in the transaction that is open."""
    deferrer = configure_task(
        name=execute_run.name, job_manager=_same_transaction, queue=execute_run.queue
    )
    deferrer.defer(run_id=run_id)


def has_job() -> Exists:
    """Whether a run, as the outer query names it, has a job that waits or is being done."""
    alive = timezone.now() - timedelta(
        seconds=settings.PROCRASTINATE_WORKER_DEFAULTS["stalled_worker_timeout"]
    )
    of_run = ProcrastinateJob.objects.annotate(
        run_id=Cast(KeyTextTransform("run_id", "args"), BigIntegerField())
    ).filter(task_name=execute_run.name, run_id=OuterRef("pk"))
    return Exists(
        of_run.filter(Q(status="todo") | Q(status="doing", worker__last_heartbeat__gte=alive))
    )


@app.periodic(cron="* * * * * */5")
@app.task(queue="runs", name="take_up_abandoned_runs", queueing_lock="take_up", pass_context=False)
def take_up_abandoned_runs(timestamp: int) -> None:
    """Hand over the runs on which nobody works although somebody should."""
    engine.take_up()


@app.periodic(cron="* * * * * */5")
@app.task(queue="runs", name="index_what_is_new", queueing_lock="index", pass_context=False)
def index_what_is_new(timestamp: int) -> None:
    """Make the terms of what other clients of the database wrote."""
    make_all_terms()


@app.periodic(cron="* * * * * */5")
@app.task(queue="runs", name="embed_what_is_new", queueing_lock="embed", pass_context=False)
def embed_what_is_new(timestamp: int) -> None:
    """Give passages and messages their vectors; one worker at a time does."""
    embedder.take_turn()


@app.periodic(cron="* * * * * */5")
@app.task(queue="runs", name="expire_approvals", queueing_lock="expire", pass_context=False)
def expire_approvals(timestamp: int) -> None:
    """Refuse the tool calls that nobody approved in time."""
    Approval.objects.all().expire()


@app.periodic(cron="0 4 * * *")
@app.task(queue="runs", name="purge_expired_agents", queueing_lock="purge", pass_context=False)
def purge_expired_agents(timestamp: int) -> None:
    """Delete for good the agents that were deleted 30 days ago."""
    Agent.objects.purge_expired()
