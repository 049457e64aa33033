"""Compaction by request, and the system message as it would be sent now."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import uuid4

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from agents.memory.context import compile_context
from agents.models import Conversation, Run
from agents.models.message_context import keys_in_context

from .responses import once

NOT_ENDED = (Run.Status.QUEUED, *Run.ACTIVE)
MOST_COUNTED = 100_000


def compact(request: HttpRequest, conversation: Conversation) -> HttpResponseBase:
    """Have all but the last exchange replaced by a summary, after what goes on; answers when it is
    done, with the summary there is then."""
    before = messages_in_context(conversation)
    run = conversation.start("Compact now", f"api:{uuid4()}", Run.Kind.COMPACTION)
    return once(request, run, partial(compacted, run, before))


def compacted(run: Run, before: int) -> dict[str, Any] | None:
    """What the run did; None until it has ended."""
    if run.stored_status() in NOT_ENDED:
        return None
    now = Run.find(run.pk)
    conversation = Conversation.find(run.conversation_id)
    if now is None or conversation is None:
        return {"error": "The conversation was deleted before it was compacted."}
    if now.status == Run.Status.FAILED:
        return {"error": now.error}
    newest = conversation.compactions.order_by("-pk").first()
    return {
        "summary": newest.summary if newest else "",
        "num_messages_before": before,
        "num_messages_after": messages_in_context(conversation),
    }


def messages_in_context(conversation: Conversation) -> int:
    """How many messages are sent with the next one."""
    return len(keys_in_context(conversation, MOST_COUNTED))


def compiled(conversation: Conversation) -> str:
    """The system message as it would be sent now."""
    return compile_context(conversation).system
