"""The engine's jobs, for `manage.py procrastinate worker`. Imported on Postgres only."""

from __future__ import annotations

from procrastinate.contrib.django import app

from . import engine
from .models import Run


@app.task(queue="runs", name="execute_run", pass_context=False)
def execute_run(run_id: int) -> None:
    """Execute a run; the job was committed with the message it answers."""
    engine.execute(run_id)


@app.periodic(cron="* * * * * */5")
@app.task(queue="runs", name="take_up_abandoned_runs", queueing_lock="take_up", pass_context=False)
def take_up_abandoned_runs(timestamp: int) -> None:
    """Hand over the runs whose worker died."""
    engine.hand_over(Run.objects.abandoned())
