"""Runs and steps as the wire has them."""

from __future__ import annotations

from typing import Any

from agents.models import Run, Step

from . import ids
from .run_stream import stop_reason
from .serializers import agent_id as id_of
from .serializers import user_id

STATUSES = {
    Run.Status.QUEUED: "created",
    Run.Status.RUNNING: "running",
    Run.Status.WAITING: "running",
    Run.Status.DONE: "completed",
    Run.Status.STOPPED: "cancelled",
    Run.Status.FAILED: "failed",
}
STEP_STATUSES = {
    Step.Status.STREAMING: "pending",
    Step.Status.CALLING: "pending",
    Step.Status.DONE: "success",
    Step.Status.FAILED: "failed",
    Step.Status.STOPPED: "cancelled",
}


def run_state(run: Run) -> dict[str, Any]:
    ended, began = run.finished_at, run.started_at or run.created_at
    return {
        "id": ids.numbered("run", run.pk),
        "agent_id": ids.named("agent", run.agent_id),
        "status": STATUSES[Run.Status(run.status)],
        "stop_reason": stop_reason(run),
        "created_at": run.created_at,
        "completed_at": ended,
        "total_duration_ns": int((ended - began).total_seconds() * 1e9) if ended else None,
        "metadata": {"error": run.error} if run.error else {},
        "user_id": user_id(run.agent.owner_id),
    }


def step_state(step: Step) -> dict[str, Any]:
    prompt, completion = step.prompt_tokens, step.completion_tokens
    known = prompt is not None and completion is not None
    return {
        "id": ids.numbered("step", step.pk),
        "run_id": ids.numbered("run", step.run_id),
        "agent_id": id_of(step.run.agent),
        "status": STEP_STATUSES[Step.Status(step.status)],
        "provider_name": "memoryweb" if "://" not in step.endpoint else "openai",
        "model": step.model,
        "model_endpoint": step.endpoint if "://" in step.endpoint else None,
        "context_window_limit": step.window,
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": (prompt or 0) + (completion or 0) if known else None,
        "stop_reason": stop_reason(step.run),
        "error_data": {"message": step.error} if step.error else None,
    }
