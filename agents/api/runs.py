"""Runs: their state, their messages and steps, and how to follow, retry or stop them."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from ninja import Query

from agents.models import Run, Step
from agents.models.run import REQUIRES_APPROVAL
from agents.runs.ways_on import retry

from . import ids, lookups
from .auth import CHAT, READ, WRITE
from .cursors import Page, ordered, page_of, part_of
from .errors import conflict
from .json_router import JsonRouter, json_response
from .messages_out import convert
from .responses import stream
from .run_stream import WHOLE, usage
from .schemas.fields import Json, Many, Short
from .schemas.messages import MessageOptions, MessageState, Usage
from .schemas.runs import RUN_STATUSES, FollowRun, RetryRun, RunState, StepState, reasons_of
from .spans import MOST_SPANS, spans_of
from .ways_on import ways_on

router = JsonRouter(tags=["runs"])


class RunFilters(Page):
    """Which runs to list."""

    agent_id: Short | None = None
    agent_ids: Many | None = None
    conversation_id: Short | None = None
    statuses: Many | None = None
    stop_reason: Short | None = None
    active: bool = False
    background: bool | None = None


@router.get("/runs/", auth=READ, response=list[RunState], operation_id="list_runs")
def index(request: HttpRequest, filters: Query[RunFilters]) -> list[Run]:
    """Runs, the newest first."""
    runs = lookups.runs(request)
    named = [*(filters.agent_ids or []), *([filters.agent_id] if filters.agent_id else [])]
    if named:
        runs = runs.filter(agent__in=[ids.uuid_of("agent", each) for each in named])
    if filters.conversation_id:
        runs = runs.filter(conversation=ids.uuid_of("conv", filters.conversation_id))
    if filters.background is not None:
        runs = runs.filter(background=filters.background)
    if filters.active:
        runs = runs.filter(status__in=[Run.Status.RUNNING, Run.Status.QUEUED])
    if filters.statuses is not None:
        statuses = [status for status, word in RUN_STATUSES.items() if word in filters.statuses]
        runs = runs.filter(status__in=statuses)
    if filters.stop_reason == REQUIRES_APPROVAL:
        runs = runs.filter(status=Run.Status.WAITING)
    elif filters.stop_reason is not None:
        runs = runs.filter(reason__in=reasons_of(filters.stop_reason))
    return page_of(runs, filters, lambda text: ids.key_of("run", text), by="pk")


@router.get("/runs/active", auth=READ, response=list[RunState], operation_id="list_active_runs")
def active(request: HttpRequest, filters: Query[RunFilters]) -> list[Run]:
    """The runs that have not ended."""
    filters.active = True
    return index(request, filters)


@router.get("/runs/{run_id}", auth=READ, response=RunState, operation_id="retrieve_run")
def retrieve(request: HttpRequest, run_id: str) -> RunState:
    """A run; if it failed, `metadata.ways_on` says what can be done about it."""
    run = lookups.run(request, run_id)
    state = RunState.model_validate(run)
    if ways := ways_on(run):
        state.metadata["ways_on"] = ways
    return state


@router.post("/runs/{run_id}/retry", auth=CHAT, response=RunState, operation_id="retry_run")
def retry_run(request: HttpRequest, run_id: str, data: RetryRun) -> Run:
    """Continue a run that failed, in one of its `ways_on`; 409 if that is no longer possible."""
    run = lookups.run(request, run_id)
    leave_out, make_room = data.way == "leave_out", data.way == "make_room"
    if not retry(run, leave_out=leave_out, make_room=make_room):
        raise conflict("The run cannot be retried: it did not fail, or there are newer messages.")
    return run


@router.delete("/runs/{run_id}", auth=WRITE, response=RunState, operation_id="delete_run")
def delete(request: HttpRequest, run_id: str) -> Run | RunState:
    """Stop a run, or withdraw it if it is still in the queue; 409 if it has ended."""
    run = lookups.run(request, run_id)
    state = RunState.model_validate(run)
    if run.status == Run.Status.QUEUED and run.withdraw():
        state.status = "cancelled"
        return state
    if run.status not in Run.ACTIVE:
        raise conflict("The run has ended and its messages are kept; reset the agent instead.")
    run.stop()
    return run


@router.get(
    "/runs/{run_id}/messages",
    auth=READ,
    response=list[MessageState],
    operation_id="list_messages_of_run",
)
def messages_of_run(request: HttpRequest, run_id: str, page: Query[Page]) -> HttpResponse:
    """The messages of a run, oldest first unless `order` is "desc"."""
    run = lookups.run(request, run_id)
    messages = ordered(request, convert(run.message_list, run.agent, shown_as(run), listed=True))
    return json_response(part_of(messages, page, lambda message: message["id"]))


@router.get(
    "/runs/{run_id}/steps",
    auth=READ,
    response=list[StepState],
    operation_id="list_steps_of_run",
)
def steps_of_run(request: HttpRequest, run_id: str, page: Query[Page]) -> list[Step]:
    """The steps of a run, oldest first unless `order` is "desc"."""
    run = lookups.run(request, run_id)
    for step in run.step_list:
        step.run = run
    return part_of(
        ordered(request, run.step_list), page, lambda step: ids.numbered("step", step.pk)
    )


@router.get(
    "/runs/{run_id}/trace", auth=READ, response=list[Json], operation_id="retrieve_run_trace"
)
def trace_of_run(
    request: HttpRequest,
    run_id: str,
    limit: Annotated[int, Query(ge=1, le=MOST_SPANS)] = MOST_SPANS,
) -> list[dict[str, Any]]:
    """What happened when in a run, as spans: the run, its steps, their tool calls."""
    return spans_of(lookups.run(request, run_id))[:limit]


@router.get("/runs/{run_id}/usage", auth=READ, response=Usage, operation_id="retrieve_run_usage")
def usage_of_run(request: HttpRequest, run_id: str) -> dict[str, Any]:
    """The tokens that a run used."""
    return usage(lookups.run(request, run_id))


@router.post(
    "/runs/{run_id}/stream",
    auth=CHAT,
    response=str,
    operation_id="stream_run",
    openapi_extra={"responses": {200: {"content": {"text/event-stream": {"schema": {}}}}}},
)
def follow(request: HttpRequest, run_id: str, data: FollowRun) -> HttpResponseBase:
    """Continue the stream of a run after the event with the last `seq_id`.

    If that was a part of a message, the rest comes in parts too.
    """
    run = lookups.run(request, run_id)
    pings, after = data.include_pings, data.starting_after
    tokens = after % (WHOLE + 1) not in (0, WHOLE)
    return stream(request, run, shown_as(run), tokens=tokens, pings=pings, after=after)


def shown_as(run: Run) -> MessageOptions:
    """How the script that sent the message wants the run's messages shown."""
    return MessageOptions.model_validate(run.request_config)
