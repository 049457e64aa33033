"""Messages: sent and answered, listed, searched, changed; runs cancelled, an agent reset."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any
from uuid import uuid4

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from ninja import Query, Router
from pydantic import Field

from agents.models import Agent, Approval, Event, Message, Run
from agents.models.message import checked, storable
from agents.models.statements import key as key_of
from agents.models.statements import values
from agents.search import hybrid
from agents.search.across import agents_with
from agents.search.scope import Messages

from . import find, ids
from .answering import stream, whole
from .conversion import convert, system_message
from .cursors import MOST
from .door import CHAT, READ, WRITE
from .errors import conflict, invalid, not_found, too_many
from .passages import aware
from .runs import run_state
from .schemas import (
    AgentState,
    Cancelling,
    Json,
    MessageChange,
    MessageSearch,
    MessageState,
    NewMessage,
    Order,
    Request,
    Resetting,
    Response,
    RunState,
    Short,
    Told,
)
from .states import agent_state
from .words import text_of

router = Router(tags=["messages"])
AGENT = "/agents/{agent_id}"
MOST_WAITING = 100  # messages in an agent's queue
RETRY_SECONDS = 10
SEARCHED = 100  # agents, where none is named: those that have most of the query's words
STREAM = {
    "responses": {
        200: {
            "content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/Response"}},
                "text/event-stream": {"schema": {}},
            }
        }
    }
}


# -- sending ---------------------------------------------------------------------------------------


@router.post(
    f"{AGENT}/messages",
    auth=CHAT,
    response=Response,
    operation_id="create_messages",
    openapi_extra=STREAM,
)
def create(request: HttpRequest, agent_id: str, data: Request) -> HttpResponseBase:
    """Send messages and wait for what is said; as a stream with `streaming`.

    With a header `Idempotency-Key` the same request again gives the same run; another one 409.
    """
    run = begun(request, agent_id, data)
    if data.streaming:
        return stream(request, run, data, tokens=data.stream_tokens, pings=data.include_pings)
    return whole(request, run, data)


@router.post(
    f"{AGENT}/messages/stream",
    auth=CHAT,
    response=str,
    operation_id="stream_messages",
    openapi_extra={"responses": {200: {"content": {"text/event-stream": {"schema": {}}}}}},
)
def create_stream(request: HttpRequest, agent_id: str, data: Request) -> HttpResponseBase:
    """Send messages and get what is said as it is said: server-sent events, `data:` lines only."""
    run = begun(request, agent_id, data)
    return stream(request, run, data, tokens=data.stream_tokens, pings=data.include_pings)


@router.post(f"{AGENT}/messages/async", auth=CHAT, response=RunState, operation_id="send_async")
def create_async(request: HttpRequest, agent_id: str, data: Request) -> dict[str, Any]:
    """Send messages and wait for nothing: the answer is the run, to look at later."""
    return run_state(begun(request, agent_id, data))


def begun(request: HttpRequest, agent_id: str, data: Request) -> Run:
    """The run that answers; the one there is already if the request came before."""
    agent = find.agent(request, agent_id)
    given = data.messages or []
    if data.input is not None:
        given = [*given, NewMessage(content=data.input)]
    if not given:
        raise invalid("messages", "There is no message; give 'messages' or 'input'.")
    if given[0].type == "approval":
        return approved(request, agent, given[0])
    if any(each.type == "tool_return" for each in given):
        raise invalid("messages", "Tools run on this server; a script cannot return for them.")
    said = [(each.role, valid(text_of(each.content))) for each in given]
    asked = hashlib.sha256(json.dumps([said, data.max_steps]).encode()).hexdigest()
    named = request.headers.get("Idempotency-Key") or given[-1].otid
    key = f"api:{hashlib.sha256(named.encode(errors='replace')).hexdigest()}" if named else ""
    if not (key and agent.runs.filter(key=key).exists()):
        refuse_if_busy(agent)
    run = Run.start(
        agent,
        said[-1][1],
        key or f"api:{uuid4()}",
        role=said[-1][0],
        before=[{"role": role, "content": content} for role, content in said[:-1]],
        most_steps=data.max_steps,
        asked=asked,
    )
    if run.asked != asked:
        raise conflict("The same Idempotency-Key came with another request before; use a new one.")
    run.agent = agent
    return run


def valid(text: str) -> str:
    try:
        return checked(text)
    except ValidationError as error:
        raise invalid("messages", error.messages[0]) from None


def refuse_if_busy(agent: Agent) -> None:
    """409 where a person has to decide first, 429 where too many messages wait."""
    going_on = "WHERE agent_id = %s AND status IN ('running', 'waiting', 'queued') LIMIT %s"
    statuses = [s for (s,) in values(Run, ("status",), going_on, key_of(agent), MOST_WAITING + 1)]
    if Run.Status.WAITING in statuses:
        raise conflict(
            "The agent waits for approval of a tool call: send a message of type 'approval', or"
            " decide in the page."
        )
    if len(statuses) > MOST_WAITING:
        words = f"{MOST_WAITING} messages wait for this agent already; send more when some are done"
        raise too_many(f"{words}.", RETRY_SECONDS)


def approved(request: HttpRequest, agent: Agent, given: NewMessage) -> Run:
    """Decide the tool calls that wait, and the run that goes on then. 409 where none waits."""
    run = agent.current_run()
    waiting = list(Approval.objects.pending().filter(step__run=run)) if run else []
    if run is None or not waiting:
        raise conflict("No tool call of this agent waits for approval.")
    words = {each.tool_call_id: each for each in given.approvals or []}
    for approval in waiting:
        word = words.get(approval.tool_call_id)
        yes = word.approve if word else given.approve
        if yes is None:
            continue
        status = Approval.Status.APPROVED if yes else Approval.Status.REFUSED
        why = (word.reason if word else None) or given.reason or ""
        approval.decide(status, by=find.person(request), reason=why)
    run.refresh_from_db()
    run.agent = agent
    return run


# -- looking ---------------------------------------------------------------------------------------


class Wanted(Told):
    """Which messages, and how they are shown.

    Without an order and a cursor, the newest, the oldest of them first. The system message comes
    before all that was said: a page that begins with the conversation begins with it.
    """

    limit: Annotated[int, Field(ge=1, le=MOST)] = 100
    after: Short | None = None
    before: Short | None = None
    order: Order | None = None


@router.get(
    f"{AGENT}/messages",
    auth=READ,
    response=list[MessageState],
    exclude_unset=True,
    operation_id="list_messages",
)
def index(request: HttpRequest, agent_id: str, wanted: Query[Wanted]) -> list[dict[str, Any]]:
    """What was said."""
    agent = find.agent(request, agent_id)
    after, before = (cursor(agent, each) for each in (wanted.after, wanted.before))
    if (wanted.after and not after) or (wanted.before and not before):
        return []
    falls = wanted.order == "desc"
    lower, upper = (before, after) if falls else (after, before)
    # a page lies next to its cursor; without one it is the first, or, without an order, the last
    newest = not falls
    if after or not before:
        newest = falls or not (wanted.order or after)
    found = between(agent, lower, upper, wanted, newest=newest)
    return found[::-1] if falls else found


Place = tuple[int, int]  # a row's number, and a part of it
START: Place = (0, 0)  # where the system message stands


def cursor(agent: Agent, given: str | None) -> Place | None:
    """Where a message stands; None where it is not the agent's."""
    if given is None:
        return None
    if given == ids.system_message(agent.pk):
        return START
    pk, part = ids.part_of("message", given)
    number = Message.objects.filter(agent=agent, pk=pk).values_list("number", flat=True).first()
    return None if number is None else (number, part)


def between(
    agent: Agent, lower: Place | None, upper: Place | None, wanted: Wanted, *, newest: bool
) -> list[dict[str, Any]]:
    """At most `limit` messages between two, the oldest first; from the newer end if `newest`."""
    begins = lower is None and upper != START and kept(wanted, "system_message")
    if begins and not newest:
        wanted = wanted.model_copy(update={"limit": wanted.limit - 1})
        return [system_message(agent), *said(agent, lower, upper, wanted, newest=newest)]
    found = said(agent, lower, upper, wanted, newest=newest)
    if begins and len(found) < wanted.limit:
        return [system_message(agent), *found]
    return found


def said(
    agent: Agent, lower: Place | None, upper: Place | None, wanted: Wanted, *, newest: bool
) -> list[dict[str, Any]]:
    """The same without the system message.

    Rows are read in batches, as one may be none, one or several messages.
    """
    rows = Message.objects.filter(agent=agent, aside=False)
    if lower:
        rows = rows.filter(number__gte=lower[0])
    if upper:
        rows = rows.filter(number__lte=upper[0])
    found: list[dict[str, Any]] = []
    step = wanted.limit + 10
    while len(found) < wanted.limit:
        batch = list(rows.order_by("-number" if newest else "number")[:step])
        if not batch:
            break
        last = batch[-1].number
        rows = rows.filter(number__lt=last) if newest else rows.filter(number__gt=last)
        numbers = {row.pk: row.number for row in batch}
        wires = convert(batch[::-1] if newest else batch, agent, wanted)
        wires = [wire for wire in wires if inside(wire, numbers, lower, upper)]
        found = [*wires, *found] if newest else [*found, *wires]
        if len(batch) < step:
            break
    return found[-wanted.limit :] if newest else found[: wanted.limit]


def kept(told: Told, kind: str) -> bool:
    """Whether messages of a type are wanted."""
    return not told.include_return_message_types or kind in told.include_return_message_types


def inside(
    wire: dict[str, Any], numbers: dict[int, int], lower: Place | None, upper: Place | None
) -> bool:
    pk, part = ids.part_of("message", wire["id"])
    place = (numbers[pk], part)
    return (lower is None or place > lower) and (upper is None or place < upper)


@router.post("/messages/search", auth=READ, response=list[Json], operation_id="search_all_messages")
def search(request: HttpRequest, data: MessageSearch) -> list[dict[str, Any]]:
    """The messages that fit a query best, by words and, where a model is set, by meaning."""
    return [flat(each) for each in searched(request, data)]


@router.post(
    "/agents/messages/search", auth=READ, response=list[Json], operation_id="search_messages"
)
def search_older(request: HttpRequest, data: MessageSearch) -> list[dict[str, Any]]:
    """The same, in the form of older SDKs."""
    return [
        {"message": message, "embedded_text": said, "rrf_score": score or 0.0}
        for message, said, score, _ in searched(request, data)
    ]


Found = tuple[dict[str, Any], str, float | None, Message]


def searched(request: HttpRequest, data: MessageSearch) -> list[Found]:
    if data.agent_id:
        agents = [find.agent(request, data.agent_id)]
    else:
        agents = agents_with(find.person(request), data.query, SEARCHED)
    found: list[Found] = []
    for agent in agents:
        scope = Messages(agent, aware(data.start_date), aware(data.end_date))
        for row, score in hybrid.search(scope, data.query, data.limit).rows:
            shown = next(iter(convert([row], agent, Told())), None)
            if shown:
                found.append((shown, Messages.text(row), score, row))
    found.sort(key=lambda each: (-(each[2] or 0.0), -each[3].pk))
    return found[: data.limit]


def flat(found: Found) -> dict[str, Any]:
    """As the newest SDK has it."""
    message, said, _, row = found
    text = message.get("reasoning") or message.get("content") or said
    kind = message["message_type"]
    kind = kind if kind in ("system_message", "user_message", "reasoning_message") else None
    content = {"reasoning": text} if kind == "reasoning_message" else {"content": text}
    return content | {
        "message_id": message["id"],
        "message_type": kind or "assistant_message",
        "created_at": message["date"],
        "agent_id": ids.named("agent", row.agent_id),
    }


# -- changing --------------------------------------------------------------------------------------


@router.patch(
    f"{AGENT}/messages/{{message_id}}",
    auth=WRITE,
    response=MessageState,
    exclude_unset=True,
    operation_id="modify_message",
)
def modify(
    request: HttpRequest, agent_id: str, message_id: str, data: MessageChange
) -> dict[str, Any]:
    """Change what was said in the past; the agent's next step sees it so.

    A step that sent the message as it was can then no longer show its request as proven.
    """
    agent = find.agent(request, agent_id)
    if message_id == ids.system_message(agent.pk):
        words = "The system message is compiled of the agent's 'system' and its memory"
        raise conflict(f"{words}; change those.")
    row = find.message(agent, message_id)
    if row.status == Message.Status.DRAFT:
        raise conflict("The message is still being written; wait until its run has ended.")
    if data.content is None and data.reasoning is None:
        raise invalid("content", "Nothing was given to change; give 'content' or 'reasoning'.")
    with transaction.atomic():
        agent = agent.locked()
        if data.content is not None:
            row.content = valid(text_of(data.content, "content"))
        if data.reasoning is not None:
            row.reasoning = storable(data.reasoning)
        row.save(update_fields=["content", "reasoning"])
        changed = Event.of(Event.Kind.MESSAGE_CHANGED, message=row)
        agent.record(row.step.changed() if row.step else changed)
        agent.configure(rewritten=agent.rewritten + 1)
    wires = convert([row], agent, Told())
    same = next((wire for wire in wires if wire["id"] == message_id), None)
    if shown := same or next(iter(wires), None):
        return shown
    raise not_found("message", message_id)


@router.post(
    f"{AGENT}/messages/cancel", auth=CHAT, response=dict[str, str], operation_id="cancel_runs"
)
def cancel(request: HttpRequest, agent_id: str, data: Cancelling) -> dict[str, str]:
    """Stop the run that goes on and take back those that wait; or only those of `run_ids`."""
    agent = find.agent(request, agent_id)
    runs = agent.runs.filter(status__in=[*Run.ACTIVE, Run.Status.QUEUED])
    if data.run_ids is not None:
        runs = runs.filter(pk__in=[ids.key_of("run", each) for each in data.run_ids])
    told = {}
    for run in sorted(runs, key=lambda run: -run.pk):  # those that wait, before one begins
        run_id = ids.numbered("run", run.pk)
        if not (run.status == Run.Status.QUEUED and run.withdraw()):
            run.stop()
        told[run_id] = "cancelled"
    return told


@router.patch(
    f"{AGENT}/reset-messages", auth=WRITE, response=AgentState, operation_id="reset_messages"
)
def reset(request: HttpRequest, agent_id: str, data: Resetting) -> dict[str, Any]:
    """Forget all that was said, for good; memory stays. 409 while a run goes on."""
    with transaction.atomic():
        agent = find.agent(request, agent_id).locked()
        if agent.runs.filter(status__in=[*Run.ACTIVE, Run.Status.QUEUED]).exists():
            raise conflict("A run of the agent goes on; cancel it first, or wait until it ends.")
        agent.messages.all().delete()
        agent.runs.all().delete()
        agent.record(Event.of(Event.Kind.RESET))
        agent.configure(context_from=0, message_count=0, rewritten=agent.rewritten + 1)
    return agent_state(find.agent(request, agent_id))
