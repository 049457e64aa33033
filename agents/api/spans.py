"""A run as spans in the columns of Letta's traces: the run, its steps, their tool calls."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from agents.models import Run, Step

from . import ids
from .messages_out import timestamp
from .schemas.runs import RUN_STATUSES, STEP_STATUSES

MOST_SPANS = 1000
Span = dict[str, Any]
OK, ERROR, UNSET = "Ok", "Error", "Unset"


def spans_of(run: Run) -> list[Span]:
    """The spans of a run in the order in which they began."""
    run_id = ids.numbered("run", run.pk)
    outer = span(run, "root", "", "run", run.started_at or run.created_at, run.finished_at)
    outer["SpanAttributes"] = {
        "run_id": run_id,
        "agent_id": ids.named("agent", run.agent_id),
        "status": RUN_STATUSES[Run.Status(run.status)],
    }
    outer["StatusCode"] = ERROR if run.error else OK if run.finished_at else UNSET
    outer["StatusMessage"] = run.error
    return [outer, *(each for step in run.step_list for each in spans_of_step(run, step))]


def spans_of_step(run: Run, step: Step) -> list[Span]:
    """The span of a step, and of each tool call in it."""
    step_id = ids.numbered("step", step.pk)
    whole = span(run, step_id, "root", "agent_step", step.started_at, step.finished_at)
    whole["SpanAttributes"] = {
        "step_id": step_id,
        "model": step.model,
        "status": STEP_STATUSES[Step.Status(step.status)],
        "prompt_tokens": step.prompt_tokens,
        "completion_tokens": step.completion_tokens,
        "outcome": step.outcome,
    }
    whole["StatusCode"] = ERROR if step.error else OK if step.finished_at else UNSET
    whole["StatusMessage"] = step.error
    names = {call.id: call.name for call in step.message.calls()} if step.message else {}
    inside = []
    for call_id, row in step.returns().items():
        began = row.created_at - timedelta(milliseconds=row.duration_ms or 0)
        called = span(run, call_id, step_id, "_execute_tool", began, row.created_at)
        called["SpanName"] = f"{names.get(call_id, 'tool')}._execute_tool"
        called["SpanAttributes"] = {
            "tool_name": names.get(call_id),
            "tool_call_id": call_id,
            "message_id": ids.numbered("message", row.pk),
        }
        called["StatusCode"] = ERROR if row.is_error else OK
        inside.append(called)
    return [whole, *inside]


def span(
    run: Run, key: str, parent: str, name: str, began: datetime, ended: datetime | None
) -> Span:
    """A span; `Duration` is in nanoseconds, and null while it goes on."""
    run_id = ids.numbered("run", run.pk)
    return {
        "Timestamp": timestamp(began),
        "TraceId": run_id,
        "SpanId": run_id if key == "root" else key,
        "ParentSpanId": run_id if parent == "root" else parent,
        "SpanName": name,
        "ServiceName": "memoryweb",
        "Duration": int((ended - began).total_seconds() * 1e9) if ended else None,
        "SpanAttributes": {},
        "StatusCode": UNSET,
        "StatusMessage": "",
    }
