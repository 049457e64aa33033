"""Messages: sent and answered, listed, searched, changed; runs cancelled, an agent reset."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from ninja import Query, Router

from agents.models import Run
from agents.models.conversation import reset_messages, rewrite_message

from . import ids, lookups
from .auth import CHAT, READ, WRITE
from .content import text_of, valid
from .errors import conflict, invalid, not_found
from .list_messages import Wanted, page
from .messages_out import convert
from .responses import stream, whole
from .run_serializers import run_state
from .schemas.agents import AgentState
from .schemas.fields import Json
from .schemas.messages import (
    Cancelling,
    MessageChange,
    MessageSearch,
    MessageState,
    Request,
    Resetting,
    Response,
    Told,
)
from .schemas.runs import RunState
from .searching import flat, searched
from .sending import begun
from .serializers import agent_state

router = Router(tags=["messages"])
AGENT = "/agents/{agent_id}"
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


# -- looking ---------------------------------------------------------------------------------------


@router.get(
    f"{AGENT}/messages",
    auth=READ,
    response=list[MessageState],
    exclude_unset=True,
    operation_id="list_messages",
)
def index(request: HttpRequest, agent_id: str, wanted: Query[Wanted]) -> list[dict[str, Any]]:
    """What was said."""
    return page(lookups.agent(request, agent_id), wanted)


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
    agent = lookups.agent(request, agent_id)
    if message_id == ids.system_message(agent.pk):
        words = "The system message is compiled of the agent's 'system' and its memory"
        raise conflict(f"{words}; change those.")
    row = lookups.message(agent, message_id)
    if data.content is None and data.reasoning is None:
        raise invalid("content", "Nothing was given to change; give 'content' or 'reasoning'.")
    content = None if data.content is None else valid(text_of(data.content, "content"))
    try:
        rewrite_message(row, content=content, reasoning=data.reasoning)
    except ValidationError as error:
        raise conflict(error.messages[0]) from None
    wires = convert([row], agent, Told())
    same = next((wire for wire in wires if wire["id"] == message_id), None)
    if shown := same or next(iter(wires), None):
        return shown
    raise not_found("message", message_id)


@router.post(
    f"{AGENT}/messages/cancel", auth=CHAT, response=dict[str, str], operation_id="cancel_runs"
)
def cancel(request: HttpRequest, agent_id: str, data: Cancelling | None = None) -> dict[str, str]:
    """Stop the run that goes on and take back those that wait; or only those of `run_ids`."""
    agent = lookups.agent(request, agent_id)
    runs = agent.runs.filter(status__in=[*Run.ACTIVE, Run.Status.QUEUED])
    if data and data.run_ids is not None:
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
def reset(request: HttpRequest, agent_id: str, data: Resetting | None = None) -> dict[str, Any]:
    """Forget all that was said, for good; memory stays. 409 while a run goes on."""
    if not reset_messages(lookups.agent(request, agent_id)):
        raise conflict("A run of the agent goes on; cancel it first, or wait until it ends.")
    return agent_state(lookups.agent(request, agent_id))
