"""What is in an agent's context: the system message, how large each part is, and compaction."""

from __future__ import annotations

import json

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from ninja import Query

from agents.memory.context import Context, compile_context
from agents.models import Message
from agents.models.message_context import keys_in_context

from . import lookups
from .auth import CHAT, READ
from .compacting import compact, compiled
from .errors import not_found
from .json_router import JsonRouter
from .schemas.contexts import (
    CompactAgent,
    CompactOptions,
    ContextOverview,
    RecompileAgentOptions,
    StoredMessage,
)
from .schemas.conversations import MOST_MESSAGES, Compacted

router = JsonRouter(tags=["messages"])
AGENT = "/agents/{agent_id}"


@router.post(f"{AGENT}/recompile", auth=READ, response=str, operation_id="recompile_agent")
def recompile(request: HttpRequest, agent_id: str, options: Query[RecompileAgentOptions]) -> str:
    """The system message as it would be sent now; it is compiled anew for each step anyway."""
    return compiled(lookups.agent(request, agent_id).first_conversation)


@router.post(f"{AGENT}/summarize", auth=CHAT, response=Compacted, operation_id="compact_agent")
def summarize(
    request: HttpRequest,
    agent_id: str,
    options: Query[CompactOptions],
    data: CompactAgent | None = None,
) -> HttpResponseBase:
    """Replace all but the last exchange in the context with a summary."""
    agent = lookups.agent(request, agent_id)
    named = data.conversation_id if data else None
    conversation = lookups.conversation(request, named or "default", agent_id)
    if conversation.agent_id != agent.pk:
        raise not_found("conversation", named)
    return compact(request, conversation)


@router.get(
    f"{AGENT}/context", auth=READ, response=ContextOverview, operation_id="retrieve_context"
)
def overview(
    request: HttpRequest, agent_id: str, conversation_id: Query[str | None] = None
) -> ContextOverview:
    """The context as it would be sent now, part by part, with estimates of their tokens."""
    agent = lookups.agent(request, agent_id)
    conversation = lookups.conversation(request, conversation_id or "default", agent_id)
    if conversation.agent_id != agent.pk:
        raise not_found("conversation", conversation_id)
    context = compile_context(conversation)
    keys = keys_in_context(conversation, MOST_MESSAGES)
    rows = Message.objects.filter(agent=agent, pk__in=keys).order_by("number")
    system = StoredMessage.system(agent, context.system)
    return ContextOverview(
        context_window_size_max=context.window,
        context_window_size_current=context.tokens(),
        num_messages=len(keys) + 1,
        num_archival_memory=agent.passage_count,
        num_recall_memory=agent.message_count,
        num_tokens_external_memory_summary=tokens(context, context.metadata),
        external_memory_summary=context.metadata,
        num_tokens_system=tokens(context, context.prompt),
        system_prompt=context.prompt,
        num_tokens_core_memory=tokens(context, context.core_memory),
        core_memory=context.core_memory,
        num_tokens_summary_memory=tokens(context, context.summary_message),
        summary_memory=context.summary or None,
        num_tokens_functions_definitions=tokens(context, context.tools),
        functions_definitions=json.loads(context.tools) if context.tools else [],
        num_tokens_messages=context.tokens(context.weight(context.history)),
        messages=[system, *(StoredMessage.of(row) for row in rows)],
    )


def tokens(context: Context, text: str) -> int:
    """How many tokens a part of the context has, by the estimate for the whole."""
    return context.tokens(len(text.encode()))
