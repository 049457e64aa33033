"""Steps: model calls inside runs, with the very requests that were sent."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from ninja import Query, Router

from agents.memory.sent_requests import sent

from . import ids, lookups
from .auth import READ
from .cursors import Page, ordered, page_of, part_of
from .errors import not_found
from .messages_out import convert
from .run_serializers import step_state
from .schemas.fields import Short
from .schemas.messages import MessageState, Told
from .schemas.runs import StepMetrics, StepState, Trace
from .serializers import agent_id as id_of

router = Router(tags=["runs"])


class WantedSteps(Page):
    """Which steps."""

    agent_id: Short | None = None
    model: Short | None = None
    start_date: datetime | None = None
    end_date: datetime | None = None


@router.get("/steps/", auth=READ, response=list[StepState], operation_id="list_steps")
def steps(request: HttpRequest, wanted: Query[WantedSteps]) -> list[dict[str, Any]]:
    """Steps, the newest first."""
    rows = lookups.steps(request)
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
    return step_state(lookups.step(request, step_id))


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
    found = lookups.step(request, step_id)
    wires = convert(found.message_list, found.run.agent, Told())
    return part_of(ordered(request, wires), wanted, lambda wire: wire["id"])


@router.get(
    "/steps/{step_id}/metrics",
    auth=READ,
    response=StepMetrics,
    operation_id="retrieve_step_metrics",
)
def metrics(request: HttpRequest, step_id: str) -> dict[str, Any]:
    """How long a step took."""
    found = lookups.step(request, step_id)
    seconds = found.seconds
    return {
        "id": ids.numbered("step", found.pk),
        "run_id": ids.numbered("run", found.run_id),
        "agent_id": id_of(found.run.agent),
        "step_start_ns": int(found.started_at.timestamp() * 1e9),
        "step_ns": None if seconds is None else int(seconds * 1e9),
        "tool_execution_ns": sum(row.duration_ms or 0 for row in found.message_list) * 1_000_000,
    }


@router.get("/steps/{step_id}/trace", auth=READ, response=Trace, operation_id="retrieve_trace")
def trace(request: HttpRequest, step_id: str) -> dict[str, Any]:
    """The request that was sent, byte for byte what its SHA-256 was made of, and the answer."""
    found = lookups.step(request, step_id)
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
