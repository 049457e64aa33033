"""Stopping what goes on and taking back what waits."""

from __future__ import annotations

from django.db.models import QuerySet

from agents.models import Run

from . import ids


def cancel_runs(runs: QuerySet[Run]) -> dict[str, str]:
    """Stop those of these runs that go on, and withdraw those in the queue; each by its id."""
    unfinished = runs.filter(status__in=[*Run.ACTIVE, Run.Status.QUEUED])
    statuses = {}
    for run in sorted(unfinished, key=lambda run: -run.pk):  # the queue first: then none starts
        run_id = ids.numbered("run", run.pk)
        if not (run.status == Run.Status.QUEUED and run.withdraw()):
            run.stop()
        statuses[run_id] = "cancelled"
    return statuses
