"""Runs: messages answered, and what was said and done in them."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from ninja import Query, Router

from agents.models import Run
from agents.runs.ways_on import retry

from . import ids, lookups
from .auth import CHAT, READ, WRITE
from .cursors import Page, ordered, page_of, part_of
from .errors import conflict
from .messages_out import convert
from .responses import stream
from .run_serializers import STATUSES, run_state, step_state
from .run_stream import WHOLE, usage
from .schemas.fields import Many, Short
from .schemas.messages import MessageState, Told, Usage
from .schemas.runs import Following, Retrying, RunState, StepState
from .ways_on import ways_on

router = Router(tags=["runs"])


class Wanted(Page):
    """Which runs."""

    agent_id: Short | None = None
    agent_ids: Many | None = None
    statuses: Many | None = None
    stop_reason: Short | None = None
    active: bool = False


@router.get("/runs/", auth=READ, response=list[RunState], operation_id="list_runs")
def index(request: HttpRequest, wanted: Query[Wanted]) -> list[dict[str, Any]]:
    """Runs, the newest first."""
    runs = lookups.runs(request).select_related("agent")
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
    """A run; of one that failed, `metadata.ways_on` says what can be done about it."""
    run = lookups.run(request, run_id)
    state = run_state(run)
    if ways := ways_on(run):
        state["metadata"] |= {"ways_on": ways}
    return state


@router.post("/runs/{run_id}/retry", auth=CHAT, response=RunState, operation_id="retry_run")
def retry_run(request: HttpRequest, run_id: str, data: Retrying) -> dict[str, Any]:
    """Go on with a run that failed, in one of its `ways_on`; 409 where it is over."""
    run = lookups.run(request, run_id)
    leave_out, make_room = data.way == "leave_out", data.way == "make_room"
    if not retry(run, leave_out=leave_out, make_room=make_room):
        raise conflict("The run is over: it did not fail, or something was said since.")
    return run_state(run)


@router.delete("/runs/{run_id}", auth=WRITE, response=RunState, operation_id="delete_run")
def delete(request: HttpRequest, run_id: str) -> dict[str, Any]:
    """Stop a run that goes on, or take back one that waits; 409 for one that is over."""
    run = lookups.run(request, run_id)
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
    run = lookups.run(request, run_id)
    wires = convert(run.message_list, run.agent, Told())
    return part_of(ordered(request, wires), wanted, lambda wire: wire["id"])


@router.get(
    "/runs/{run_id}/steps",
    auth=READ,
    response=list[StepState],
    operation_id="list_steps_of_run",
)
def steps_of_run(request: HttpRequest, run_id: str, wanted: Query[Page]) -> list[dict[str, Any]]:
    """A run's steps, oldest first unless `order` is "desc" by name."""
    run = lookups.run(request, run_id)
    for step in run.step_list:
        step.run = run
    states = [step_state(step) for step in run.step_list]
    return part_of(ordered(request, states), wanted, lambda state: state["id"])


@router.get("/runs/{run_id}/usage", auth=READ, response=Usage, operation_id="retrieve_run_usage")
def usage_of_run(request: HttpRequest, run_id: str) -> dict[str, Any]:
    """The tokens a run took."""
    return usage(lookups.run(request, run_id))


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
    run = lookups.run(request, run_id)
    pings, after = data.include_pings, data.starting_after
    return stream(
        request, run, Told(), tokens=after % (WHOLE + 1) not in (0, WHOLE), pings=pings, after=after
    )
