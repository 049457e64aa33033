"""Conversations: an agent's histories, each with messages, a context and a queue of its own.

In an address `default`, with the agent's id beside it, names the agent's first conversation, and so
does an agent's id in the place of a conversation's.
"""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from ninja import Query

from agents.ledger.fork_conversation import fork
from agents.models import Conversation, Run

from . import ids, lookups
from .agent_settings import merged
from .auth import CHAT, READ, WRITE
from .compacting import compact, compiled
from .cursors import Page, page_of
from .errors import conflict
from .json_router import JsonRouter, json_response
from .list_messages import MessagePage, page_of_messages
from .model_choice import check_model
from .responses import stream, whole
from .run_stream import WHOLE
from .schemas.conversations import (
    ArchiveStatus,
    Compact,
    Compacted,
    ConversationChange,
    ConversationState,
    FollowConversation,
    NewConversation,
    OrderBy,
    Recompile,
    RecompileOptions,
    SendInConversation,
    with_messages,
)
from .schemas.fields import Done, Json, Short
from .schemas.messages import MessageOptions, MessageState, Response
from .schemas.model_settings import settings_from
from .sending import key_named, start_run
from .stopping import cancel_runs

router = JsonRouter(tags=["conversations"])
ONE = "/conversations/{conversation_id}"
STREAM: dict[str, Any] = {"responses": {200: {"content": {"text/event-stream": {"schema": {}}}}}}


NO_FIELDS = {"model_settings", "archived", "isolated_block_labels"}


class ConversationFilters(Page):
    """Which conversations to list, and in which order."""

    agent_id: Short | None = None
    archive_status: ArchiveStatus = "unarchived"
    order_by: OrderBy = "created_at"
    summary_search: Short | None = None


@router.get(
    "/conversations/",
    auth=READ,
    response=list[ConversationState],
    operation_id="list_conversations",
)
def index(request: HttpRequest, filters: Query[ConversationFilters]) -> list[Conversation]:
    """Conversations, the newest first."""
    rows: QuerySet[Conversation] = lookups.conversations(request).filter(hidden=False)
    if filters.agent_id is not None:
        rows = rows.filter(agent=lookups.agent(request, filters.agent_id))
    if filters.archive_status != "all":
        rows = rows.filter(archived_at__isnull=filters.archive_status == "unarchived")
    if filters.summary_search:
        rows = rows.filter(title__icontains=filters.summary_search)
    by = "created_at"
    if filters.order_by != "created_at":  # a run ends shortly after the message that began it
        by = "last_message_at"
        rows = rows.exclude(last_message_at=None)
    return page_of(rows, filters, lambda text: ids.uuid_of("conv", text), by=by)


@router.post(
    "/conversations/", auth=WRITE, response=ConversationState, operation_id="create_conversation"
)
def create(
    request: HttpRequest, agent_id: Query[Short], data: NewConversation | None = None
) -> ConversationState:
    """Begin a conversation of an agent. 429 where it has as many as it may have."""
    data = data or NewConversation()
    agent = lookups.agent(request, agent_id)
    if data.model:
        check_model(data.model, agent.owner_id)
    return with_messages(Conversation.create(agent, **settings_of(data, {})))


def settings_of(data: NewConversation | ConversationChange, before: Json) -> dict[str, object]:
    """The fields of a conversation that a request sets, and the model settings it had `before`."""
    names = {"summary": "title", "context_window_limit": "context_window"}
    sent = data.model_dump(exclude_unset=True, exclude=NO_FIELDS)
    fields = {names.get(name, name): value for name, value in sent.items()}
    if data.model_settings is not None:
        fields["model_settings"] = merged(before, settings_from(data.model_settings))
    for name in ("title", "description", "model"):
        if name in fields:
            fields[name] = fields[name] or ""
    return fields


@router.get(ONE, auth=READ, response=ConversationState, operation_id="retrieve_conversation")
def retrieve(
    request: HttpRequest, conversation_id: str, agent_id: Query[Short | None] = None
) -> ConversationState:
    """A conversation, with the ids of the messages in its context."""
    return with_messages(lookups.conversation(request, conversation_id, agent_id))


@router.patch(ONE, auth=WRITE, response=ConversationState, operation_id="update_conversation")
def update(
    request: HttpRequest, conversation_id: str, data: ConversationChange
) -> ConversationState:
    """Change a conversation's title and settings, or archive it."""
    conversation = lookups.conversation(request, conversation_id)
    if data.model and data.model != conversation.model:
        check_model(data.model, conversation.agent.owner_id)
    changes = settings_of(data, conversation.model_settings)
    if data.archived is not None:
        changes["archived_at"] = timezone.now() if data.archived else None
    conversation.configure(**changes)
    return with_messages(conversation)


@router.delete(ONE, auth=WRITE, response=Done, operation_id="delete_conversation")
def delete(request: HttpRequest, conversation_id: str) -> Done:
    """Delete a conversation permanently; 409 for an agent's first one, and while it is running."""
    conversation = lookups.conversation(request, conversation_id)
    try:
        conversation.remove()
    except ValidationError as error:
        raise conflict(error.messages[0]) from None
    return Done(message=f"The conversation {conversation_id} was deleted.")


# -- what is said ----------------------------------------------------------------------------------


@router.get(
    f"{ONE}/messages",
    auth=READ,
    response=list[MessageState],
    operation_id="list_conversation_messages",
)
def messages(
    request: HttpRequest,
    conversation_id: str,
    page: Query[MessagePage],
    agent_id: Query[Short | None] = None,
) -> HttpResponse:
    """A conversation's messages."""
    conversation = lookups.conversation(request, conversation_id, agent_id)
    return json_response(page_of_messages(conversation.agent, page, conversation))


@router.post(
    f"{ONE}/messages",
    auth=CHAT,
    response=Response,
    operation_id="send_conversation_message",
    openapi_extra=STREAM,
)
def send(request: HttpRequest, conversation_id: str, data: SendInConversation) -> HttpResponseBase:
    """Send messages and stream the answer; without `streaming`, wait for it."""
    conversation = lookups.conversation(request, conversation_id, data.agent_id)
    run, seen, then = start_run(request, conversation, data)
    if data.streaming:
        shown = {"tokens": data.stream_tokens, "pings": data.include_pings}
        return stream(request, run, data, seen=seen, then=then, **shown)
    return whole(request, run, data, seen, then)


@router.post(
    f"{ONE}/stream",
    auth=CHAT,
    response=str,
    operation_id="follow_conversation",
    openapi_extra=STREAM,
)
def follow(
    request: HttpRequest, conversation_id: str, data: FollowConversation | None = None
) -> HttpResponseBase:
    """Continue the stream of the newest run, or of the one that is named; 409 if there is none."""
    data = data or FollowConversation()
    conversation = lookups.conversation(request, conversation_id, data.agent_id)
    run = conversation.current_run() or conversation.last_run()
    if data.run_id is not None:
        run = lookups.find(
            conversation.runs.all(), "run", ids.key_of("run", data.run_id), text=data.run_id
        )
    elif data.otid is not None:
        run = conversation.runs.filter(key=key_named(data.otid)).first()
    if run is None:
        words = "No run of this conversation is there to follow, or none of this otid"
        raise conflict(f"{words}; send a message first.")
    run.agent = conversation.agent
    after = data.starting_after
    tokens = after % (WHOLE + 1) not in (0, WHOLE)
    pings = data.include_pings
    return stream(request, run, MessageOptions(), tokens=tokens, pings=pings, after=after)


@router.post(
    f"{ONE}/cancel", auth=CHAT, response=dict[str, str], operation_id="cancel_conversation"
)
def cancel(
    request: HttpRequest, conversation_id: str, agent_id: Query[Short | None] = None
) -> dict[str, str]:
    """Stop the current run and withdraw those in the queue; 409 if there are none."""
    conversation = lookups.conversation(request, conversation_id, agent_id)
    statuses = cancel_runs(Run.objects.filter(conversation=conversation.pk))
    if not statuses:
        raise conflict("No run of this conversation goes on or waits.")
    return statuses


@router.post(
    f"{ONE}/fork", auth=WRITE, response=ConversationState, operation_id="fork_conversation"
)
def fork_it(
    request: HttpRequest,
    conversation_id: str,
    agent_id: Query[Short | None] = None,
    message_id: Query[Short | None] = None,
    hidden: Query[bool] = False,
) -> ConversationState:
    """A new conversation of the same agent, with the messages that are in this one's context, or
    with those up to one of them."""
    conversation = lookups.conversation(request, conversation_id, agent_id)
    until = None
    if message_id is not None:
        until = lookups.message(conversation.agent, message_id)
    return with_messages(fork(conversation, until, hidden=hidden))


@router.post(f"{ONE}/compact", auth=CHAT, response=Compacted, operation_id="compact_conversation")
def compact_it(
    request: HttpRequest, conversation_id: str, data: Compact | None = None
) -> HttpResponseBase:
    """Replace all but the last exchange in the context with a summary."""
    agent_id = data.agent_id if data else None
    return compact(request, lookups.conversation(request, conversation_id, agent_id))


@router.post(f"{ONE}/recompile", auth=READ, response=str, operation_id="recompile_conversation")
def recompile(
    request: HttpRequest,
    conversation_id: str,
    options: Query[RecompileOptions],
    data: Recompile | None = None,
) -> str:
    """The system message as it would be sent now; it is compiled anew for each step anyway."""
    agent_id = data.agent_id if data else None
    return compiled(lookups.conversation(request, conversation_id, agent_id))
