"""The engine's jobs, for `manage.py procrastinate worker`. Imported on Postgres only."""

from __future__ import annotations

from procrastinate.contrib.django import app

from .api import callbacks
from .models import Agent, Approval, Image, Schedule
from .models.searchable import make_all_terms
from .runs import engine, retention
from .runs.jobs import EXECUTE, QUEUE
from .search import embedder


@app.task(queue=QUEUE, name=EXECUTE, pass_context=False)
def execute_run(run_id: int) -> None:
    """Execute a run; the job was committed with the message it answers."""
    engine.execute(run_id)


@app.periodic(cron="* * * * * */5")
@app.task(queue=QUEUE, name="take_up_abandoned_runs", queueing_lock="take_up", pass_context=False)
def take_up_abandoned_runs(timestamp: int) -> None:
    """Hand over the runs on which nobody works although somebody should."""
    engine.take_up()


@app.periodic(cron="* * * * * */5")
@app.task(queue=QUEUE, name="index_what_is_new", queueing_lock="index", pass_context=False)
def index_what_is_new(timestamp: int) -> None:
    """Make the terms of what other clients of the database wrote."""
    make_all_terms()


@app.periodic(cron="* * * * * */5")
@app.task(queue=QUEUE, name="embed_what_is_new", queueing_lock="embed", pass_context=False)
def embed_what_is_new(timestamp: int) -> None:
    """Give passages and messages their vectors; one worker at a time does."""
    embedder.take_turn()


@app.periodic(cron="* * * * * */5")
@app.task(queue=QUEUE, name="expire_approvals", queueing_lock="expire", pass_context=False)
def expire_approvals(timestamp: int) -> None:
    """Refuse the tool calls that nobody approved in time."""
    Approval.objects.all().expire()


@app.periodic(cron="* * * * * */5")
@app.task(queue=QUEUE, name="fire_schedules", queueing_lock="schedules", pass_context=False)
def fire_schedules(timestamp: int) -> None:
    """Send the scheduled messages that are due."""
    Schedule.objects.all().fire_due()


@app.periodic(cron="* * * * * */5")
@app.task(queue=QUEUE, name="send_callbacks", queueing_lock="callbacks", pass_context=False)
def send_callbacks(timestamp: int) -> None:
    """Tell the scripts that named an address that their runs rest."""
    callbacks.send_due()


@app.periodic(cron="0 * * * *")
@app.task(queue=QUEUE, name="delete_unsent_images", queueing_lock="images", pass_context=False)
def delete_unsent_images(timestamp: int) -> None:
    """Delete the images that were uploaded over a day ago and never sent."""
    Image.objects.all().delete_unsent()


@app.periodic(cron="0 4 * * *")
@app.task(queue=QUEUE, name="purge_expired_agents", queueing_lock="purge", pass_context=False)
def purge_expired_agents(timestamp: int) -> None:
    """Delete for good the agents that were deleted 30 days ago."""
    Agent.objects.purge_expired()


@app.periodic(cron="17 * * * *")
@app.task(queue=QUEUE, name="prune", queueing_lock="prune", pass_context=False)
def prune(timestamp: int) -> None:
    """Delete what is kept for some days only."""
    retention.prune()
