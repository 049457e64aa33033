"""Messages: sent, listed and changed; runs cancelled, an agent's messages reset."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from ninja import Query

from agents.models import Run

from . import ids, lookups
from .agent_details import agent_state
from .auth import CHAT, READ, WRITE
from .content import checked_text, text_of
from .errors import conflict, invalid, not_found
from .json_router import JsonRouter, json_response
from .list_messages import MessagePage, page_of_messages
from .messages_out import convert
from .responses import stream, whole
from .schemas.agents import AgentState
from .schemas.messages import (
    CancelRuns,
    MessageChange,
    MessageOptions,
    MessageState,
    ResetMessages,
    Response,
    SendMessages,
)
from .schemas.runs import RunState
from .sending import start_run
from .stopping import cancel_runs

router = JsonRouter(tags=["messages"])
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
def create(request: HttpRequest, agent_id: str, data: SendMessages) -> HttpResponseBase:
    """Send messages and wait for the answer; with `streaming`, as a stream.

    With a header `Idempotency-Key` the same request gives the same run; a different one gives 409.
    """
    run, seen, then = start_run(request, lookups.agent(request, agent_id).first_conversation, data)
    if not data.streaming:
        return whole(request, run, data, seen, then)
    tokens, pings = data.stream_tokens, data.include_pings
    return stream(request, run, data, tokens=tokens, pings=pings, seen=seen, then=then)


@router.post(
    f"{AGENT}/messages/stream",
    auth=CHAT,
    response=str,
    operation_id="stream_messages",
    openapi_extra={"responses": {200: {"content": {"text/event-stream": {"schema": {}}}}}},
)
def create_stream(request: HttpRequest, agent_id: str, data: SendMessages) -> HttpResponseBase:
    """Send messages and stream the answer: server-sent events with `data:` lines only."""
    run, seen, then = start_run(request, lookups.agent(request, agent_id).first_conversation, data)
    tokens, pings = data.stream_tokens, data.include_pings
    return stream(request, run, data, tokens=tokens, pings=pings, seen=seen, then=then)


@router.post(f"{AGENT}/messages/async", auth=CHAT, response=RunState, operation_id="send_async")
def create_async(request: HttpRequest, agent_id: str, data: SendMessages) -> Run:
    """Send messages without waiting; the answer is the run, which can be read later."""
    data.background = True
    run, _, then = start_run(request, lookups.agent(request, agent_id).first_conversation, data)
    return then or run


# -- reading ---------------------------------------------------------------------------------------


@router.get(
    f"{AGENT}/messages",
    auth=READ,
    response=list[MessageState],
    operation_id="list_messages",
)
def index(request: HttpRequest, agent_id: str, page: Query[MessagePage]) -> HttpResponse:
    """An agent's messages."""
    agent = lookups.agent(request, agent_id)
    named = page.conversation_id
    conversation = lookups.conversation(request, named, agent_id) if named else None
    return json_response(page_of_messages(agent, page, conversation))


# -- changing --------------------------------------------------------------------------------------


@router.patch(
    f"{AGENT}/messages/{{message_id}}",
    auth=WRITE,
    response=MessageState,
    operation_id="modify_message",
)
def modify(
    request: HttpRequest, agent_id: str, message_id: str, data: MessageChange
) -> HttpResponse:
    """Change a past message; the agent sees the new text from its next step on.

    The requests that contained the old text can then no longer be shown as proven.
    """
    agent = lookups.agent(request, agent_id)
    if message_id == ids.system_message(agent.pk):
        words = "The system message is compiled from the agent's 'system' and its memory"
        raise conflict(f"{words}; change those instead.")
    row = lookups.message(agent, message_id)
    if data.content is None and data.reasoning is None:
        raise invalid("content", "There is nothing to change; give 'content' or 'reasoning'.")
    content = None if data.content is None else checked_text(text_of(data.content, "content"))
    try:
        row.rewrite(content=content, reasoning=data.reasoning)
    except ValidationError as error:
        raise conflict(error.messages[0]) from None
    messages = convert([row], agent, MessageOptions())
    messages.sort(key=lambda message: message["id"] != message_id)  # the one that was named first
    if not messages:
        raise not_found("message", message_id)
    return json_response(messages[0])


@router.post(
    f"{AGENT}/messages/cancel", auth=CHAT, response=dict[str, str], operation_id="cancel_runs"
)
def cancel(request: HttpRequest, agent_id: str, data: CancelRuns | None = None) -> dict[str, str]:
    """Stop the current run and withdraw those in the queue, or only those of `run_ids`."""
    agent = lookups.agent(request, agent_id)
    runs = agent.runs.all()
    if data and data.run_ids is not None:
        runs = runs.filter(pk__in=[ids.key_of("run", each) for each in data.run_ids])
    return cancel_runs(runs)


@router.patch(
    f"{AGENT}/reset-messages", auth=WRITE, response=AgentState, operation_id="reset_messages"
)
def reset(request: HttpRequest, agent_id: str, data: ResetMessages | None = None) -> AgentState:
    """Delete all messages permanently; memory is kept. 409 while a run has not ended."""
    if not lookups.agent(request, agent_id).first_conversation.reset():
        raise conflict("The agent is running; cancel the run first, or wait until it ends.")
    return agent_state(lookups.agent(request, agent_id))
