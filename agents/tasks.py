"""The engine's jobs, for `manage.py procrastinate worker`. Imported on Postgres only."""

from __future__ import annotations

from procrastinate.contrib.django import app

from .api import callbacks
from .attached_files.work import READ
from .attached_files.work import work as read_files
from .imports import work
from .llm.embeddings import embedding_model
from .models import Agent, AttachedFile, HistoryImport, Image, Reservation, Run
from .runs import engine, periodic, retention
from .runs.jobs import EXECUTE, QUEUE, defer_once
from .search import embedder

EMBED, CALL_BACK, IMPORT = "embed_what_is_new", "send_callbacks", "work_off_imports"


@app.task(queue=QUEUE, name=EXECUTE, pass_context=False)
def execute_run(run_id: int) -> None:
    """Execute a run; the job was committed with the message it answers."""
    engine.execute(run_id)


@app.periodic(cron="* * * * * */5")
@app.task(queue=QUEUE, name="do_what_is_due", queueing_lock="due", pass_context=False)
def do_what_is_due(timestamp: int) -> None:
    """What is looked for every few seconds, in one job: a job costs more than most of it does. What
    may take long gets a job of its own, if there is any to do."""
    periodic.do_what_is_due()
    if embedding_model():
        defer_once(EMBED)
    if Run.objects.callbacks_due().exists():
        defer_once(CALL_BACK)
    if HistoryImport.objects.all().due().exists():
        defer_once(IMPORT)
    if AttachedFile.objects.due().exists():
        defer_once(READ)


@app.task(queue=QUEUE, name=EMBED, queueing_lock=EMBED, pass_context=False)
def embed_what_is_new() -> None:
    """Give passages and messages their vectors; one worker at a time does."""
    embedder.take_turn()


@app.task(queue=QUEUE, name=CALL_BACK, queueing_lock=CALL_BACK, pass_context=False)
def send_callbacks() -> None:
    """Tell the scripts that named an address that their runs rest."""
    callbacks.send_due()


@app.task(queue=QUEUE, name=IMPORT, queueing_lock=IMPORT, pass_context=False)
def work_off_imports() -> None:
    """Read the files of other assistants, make passages of them, undo them."""
    work.work()


@app.task(queue=QUEUE, name=READ, queueing_lock=READ, pass_context=False)
def read_attached_files() -> None:
    """Make passages of the files that people attach."""
    read_files()


@app.periodic(cron="* * * * *")
@app.task(queue=QUEUE, name="settle_reservations", queueing_lock="settle", pass_context=False)
def settle_reservations(timestamp: int) -> None:
    """Count what calls held back of quotas and nobody settled in time."""
    Reservation.settle_expired()


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
