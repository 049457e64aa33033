"""Steps: model calls inside runs, with the requests exactly as they were sent."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Query

from agents.memory.sent_requests import sent
from agents.models import Step

from . import ids, lookups
from .auth import READ, WRITE
from .cursors import Page, ordered, page_of, part_of
from .errors import Refused, not_found
from .json_router import JsonRouter, json_response
from .messages_out import convert
from .schemas.fields import Short
from .schemas.messages import MessageOptions, MessageState
from .schemas.runs import Feedback, StepMetrics, StepState, Trace, Verdict

router = JsonRouter(tags=["runs"])


class StepFilters(Page):
    """Which steps to list."""

    agent_id: Short | None = None
    model: Short | None = None
    start_date: datetime | None = None
    end_date: datetime | None = None
    feedback: Verdict | None = None
    has_feedback: bool | None = None


@router.get("/steps/", auth=READ, response=list[StepState], operation_id="list_steps")
def steps(request: HttpRequest, filters: Query[StepFilters]) -> list[Step]:
    """Steps, the newest first."""
    rows = lookups.steps(request)
    if filters.agent_id:
        rows = rows.filter(run__agent=ids.uuid_of("agent", filters.agent_id))
    if filters.model is not None:
        rows = rows.filter(model=filters.model)
    if filters.start_date:
        rows = rows.filter(started_at__gte=filters.start_date)
    if filters.end_date:
        rows = rows.filter(started_at__lt=filters.end_date)
    if filters.feedback:
        rows = rows.filter(feedback__verdict=filters.feedback)
    if filters.has_feedback is not None:
        rows = (
            rows.filter(feedback__has_key="verdict")
            if filters.has_feedback
            else rows.exclude(feedback__has_key="verdict")
        )
    return page_of(rows, filters, lambda text: ids.key_of("step", text), by="pk")


@router.get("/steps/{step_id}", auth=READ, response=StepState, operation_id="retrieve_step")
def step(request: HttpRequest, step_id: str) -> Step:
    """A step."""
    return lookups.step(request, step_id)


@router.get(
    "/steps/{step_id}/messages",
    auth=READ,
    response=list[MessageState],
    operation_id="list_messages_of_step",
)
def messages_of_step(request: HttpRequest, step_id: str, page: Query[Page]) -> HttpResponse:
    """The messages of a step."""
    step = lookups.step(request, step_id)
    messages = ordered(
        request, convert(step.message_list, step.run.agent, MessageOptions(), listed=True)
    )
    return json_response(part_of(messages, page, lambda message: message["id"]))


@router.get(
    "/steps/{step_id}/metrics",
    auth=READ,
    response=StepMetrics,
    operation_id="retrieve_step_metrics",
)
def metrics(request: HttpRequest, step_id: str) -> Step:
    """How long a step took."""
    return lookups.step(request, step_id)


@router.patch(
    "/steps/{step_id}/feedback",
    auth=WRITE,
    response=StepState,
    operation_id="modify_feedback_for_step",
)
def feedback(request: HttpRequest, step_id: str, data: Feedback) -> Step:
    """Say whether a step was good or bad; null takes that back. Tags say more about it."""
    step = lookups.step(request, step_id)
    step.judge(data.feedback, data.tags or [])
    return step


@router.get("/steps/{step_id}/trace", auth=READ, response=Trace, operation_id="retrieve_trace")
def trace(request: HttpRequest, step_id: str) -> dict[str, Any]:
    """The request that was sent, with its SHA-256, and the model's answer."""
    step = lookups.step(request, step_id)
    request_sent = sent(step)
    if days := step.request_removed_after:
        raise Refused(410, f"The request of {step_id} was removed after {days:g} days.")
    if request_sent is None:
        raise not_found("trace of step", step_id)
    message = step.message
    return {
        "id": ids.numbered("trace", step.pk),
        "step_id": ids.numbered("step", step.pk),
        "request_json": json.loads(request_sent.body),
        "response_json": {
            "content": message.content if message else "",
            "reasoning": message.reasoning if message else "",
            "tool_calls": message.tool_calls if message else [],
            "usage": {
                "prompt_tokens": step.prompt_tokens,
                "completion_tokens": step.completion_tokens,
            },
        },
        "request_sha256": step.request_sha256,
        "proven": request_sent.proven,
        "created_at": step.started_at,
    }


@router.get("/telemetry/{step_id}", auth=READ, response=Trace, operation_id="retrieve_telemetry")
def telemetry(request: HttpRequest, step_id: str) -> dict[str, Any]:
    """The same, at the address that older SDKs use."""
    return trace(request, step_id)
