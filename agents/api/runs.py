"""Runs and steps: what was answered and how, with the very requests that were sent."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from ninja import Query, Router

from agents.models import Run, Step
from agents.requests import sent

from . import find, ids
from .answering import stream
from .conversion import convert
from .cursors import Page, page_of, part_of
from .door import CHAT, READ, WRITE
from .errors import conflict, not_found
from .follow import WHOLE, stop_reason, usage
from .schemas import (
    Following,
    Many,
    MessageState,
    RunState,
    Short,
    StepMetrics,
    StepState,
    Told,
    Trace,
    Usage,
)
from .states import agent_id as id_of
from .states import user_id

router = Router(tags=["runs"])
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


class Wanted(Page):
    """Which runs."""

    agent_id: Short | None = None
    agent_ids: Many | None = None
    statuses: Many | None = None
    stop_reason: Short | None = None
    active: bool = False


class WantedSteps(Page):
    """Which steps."""

    agent_id: Short | None = None
    model: Short | None = None
    start_date: datetime | None = None
    end_date: datetime | None = None


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


# -- runs ------------------------------------------------------------------------------------------


@router.get("/runs/", auth=READ, response=list[RunState], operation_id="list_runs")
def index(request: HttpRequest, wanted: Query[Wanted]) -> list[dict[str, Any]]:
    """Runs, the newest first."""
    runs = find.runs(request).select_related("agent")
    named = [*(wanted.agent_ids or []), *([wanted.agent_id] if wanted.agent_id else [])]
    if named:
        runs = runs.filter(agent__in=[ids.uuid_of("agent", each) for each in named])
    if wanted.active:
        runs = runs.filter(status__in=[*Run.ACTIVE, Run.Status.QUEUED])
    if wanted.statuses is not None:
        runs = runs.filter(
            status__in=[s for s, word in STATUSES.items() if word in wanted.statuses]
        )
    if wanted.stop_reason is not None:
        runs = runs.filter(reason=wanted.stop_reason)
    found = page_of(runs, wanted, lambda text: ids.key_of("run", text), by="pk")
    return [run_state(run) for run in found]


@router.get("/runs/active", auth=READ, response=list[RunState], operation_id="list_active_runs")
def active(request: HttpRequest, wanted: Query[Wanted]) -> list[dict[str, Any]]:
    """The runs that go on or wait."""
    wanted.active = True
    return index(request, wanted)


@router.get("/runs/{run_id}", auth=READ, response=RunState, operation_id="retrieve_run")
def retrieve(request: HttpRequest, run_id: str) -> dict[str, Any]:
    """A run."""
    return run_state(find.run(request, run_id))


@router.delete("/runs/{run_id}", auth=WRITE, response=RunState, operation_id="delete_run")
def delete(request: HttpRequest, run_id: str) -> dict[str, Any]:
    """Stop a run that goes on, or take back one that waits; 409 for one that is over."""
    run = find.run(request, run_id)
    told = run_state(run)
    if run.status == Run.Status.QUEUED and run.withdraw():
        return told | {"status": "cancelled"}
    if run.status not in Run.ACTIVE:
        raise conflict("The run is over, and what was said in it stays; reset the agent instead.")
    run.stop()
    return run_state(run)


@router.get(
    "/runs/{run_id}/messages",
    auth=READ,
    response=list[MessageState],
    exclude_unset=True,
    operation_id="list_messages_of_run",
)
def messages_of_run(request: HttpRequest, run_id: str, wanted: Query[Page]) -> list[dict[str, Any]]:
    """What was said in a run, oldest first unless `order` is "desc" by name."""
    run = find.run(request, run_id)
    wires = convert(run.said, run.agent, Told())
    return part_of(ordered(request, wires), wanted, lambda wire: wire["id"])


def ordered(request: HttpRequest, items: list[Any]) -> list[Any]:
    """Oldest first, but where the request asks for the other order."""
    return items[::-1] if request.GET.get("order") == "desc" else items


@router.get(
    "/runs/{run_id}/steps",
    auth=READ,
    response=list[StepState],
    operation_id="list_steps_of_run",
)
def steps_of_run(request: HttpRequest, run_id: str, wanted: Query[Page]) -> list[dict[str, Any]]:
    """A run's steps, oldest first unless `order` is "desc" by name."""
    run = find.run(request, run_id)
    for step in run.taken:
        step.run = run
    states = [step_state(step) for step in run.taken]
    return part_of(ordered(request, states), wanted, lambda state: state["id"])


@router.get("/runs/{run_id}/usage", auth=READ, response=Usage, operation_id="retrieve_run_usage")
def usage_of_run(request: HttpRequest, run_id: str) -> dict[str, Any]:
    """The tokens a run took."""
    return usage(find.run(request, run_id))


@router.post(
    "/runs/{run_id}/stream",
    auth=CHAT,
    response=str,
    operation_id="stream_run",
    openapi_extra={"responses": {200: {"content": {"text/event-stream": {"schema": {}}}}}},
)
def follow(request: HttpRequest, run_id: str, data: Following) -> HttpResponseBase:
    """Go on with the stream of a run after the event whose `seq_id` came last.

    If that was a piece of a message, what follows comes in pieces too.
    """
    run = find.run(request, run_id)
    pings, after = data.include_pings, data.starting_after
    return stream(
        request, run, Told(), tokens=after % (WHOLE + 1) not in (0, WHOLE), pings=pings, after=after
    )


# -- steps -----------------------------------------------------------------------------------------


@router.get("/steps/", auth=READ, response=list[StepState], operation_id="list_steps")
def steps(request: HttpRequest, wanted: Query[WantedSteps]) -> list[dict[str, Any]]:
    """Steps, the newest first."""
    rows = find.steps(request)
    if wanted.agent_id:
        rows = rows.filter(run__agent=ids.uuid_of("agent", wanted.agent_id))
    if wanted.model is not None:
        rows = rows.filter(model=wanted.model)
    if wanted.start_date:
        rows = rows.filter(started_at__gte=wanted.start_date)
    if wanted.end_date:
        rows = rows.filter(started_at__lt=wanted.end_date)
    found = page_of(rows, wanted, lambda text: ids.key_of("step", text), by="pk")
    return [step_state(step) for step in found]


@router.get("/steps/{step_id}", auth=READ, response=StepState, operation_id="retrieve_step")
def step(request: HttpRequest, step_id: str) -> dict[str, Any]:
    """A step."""
    return step_state(find.step(request, step_id))


@router.get(
    "/steps/{step_id}/messages",
    auth=READ,
    response=list[MessageState],
    exclude_unset=True,
    operation_id="list_messages_of_step",
)
def messages_of_step(
    request: HttpRequest, step_id: str, wanted: Query[Page]
) -> list[dict[str, Any]]:
    """What was said in a step."""
    found = find.step(request, step_id)
    wires = convert(found.said, found.run.agent, Told())
    return part_of(ordered(request, wires), wanted, lambda wire: wire["id"])


@router.get(
    "/steps/{step_id}/metrics",
    auth=READ,
    response=StepMetrics,
    operation_id="retrieve_step_metrics",
)
def metrics(request: HttpRequest, step_id: str) -> dict[str, Any]:
    """How long a step took."""
    found = find.step(request, step_id)
    seconds = found.seconds
    return {
        "id": ids.numbered("step", found.pk),
        "run_id": ids.numbered("run", found.run_id),
        "agent_id": id_of(found.run.agent),
        "step_start_ns": int(found.started_at.timestamp() * 1e9),
        "step_ns": None if seconds is None else int(seconds * 1e9),
        "tool_execution_ns": sum(row.duration_ms or 0 for row in found.said) * 1_000_000,
    }


@router.get("/steps/{step_id}/trace", auth=READ, response=Trace, operation_id="retrieve_trace")
def trace(request: HttpRequest, step_id: str) -> dict[str, Any]:
    """The request that was sent, byte for byte what its SHA-256 was made of, and the answer."""
    found = find.step(request, step_id)
    request_sent = sent(found)
    if request_sent is None:
        raise not_found("trace of step", step_id)
    said = found.message
    return {
        "id": ids.numbered("trace", found.pk),
        "step_id": ids.numbered("step", found.pk),
        "request_json": json.loads(request_sent.body),
        "response_json": {
            "content": said.content if said else "",
            "reasoning": said.reasoning if said else "",
            "tool_calls": said.tool_calls if said else [],
            "usage": {
                "prompt_tokens": found.prompt_tokens,
                "completion_tokens": found.completion_tokens,
            },
        },
        "request_sha256": found.request_sha256,
        "proven": request_sent.proven,
        "created_at": found.started_at,
    }


@router.get("/telemetry/{step_id}", auth=READ, response=Trace, operation_id="retrieve_telemetry")
def telemetry(request: HttpRequest, step_id: str) -> dict[str, Any]:
    """The same, where older SDKs look for it."""
    return trace(request, step_id)
