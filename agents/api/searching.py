"""Searching messages: those of one agent, or of all of a person's agents."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.http import HttpRequest

from agents.models import Message
from agents.search import hybrid
from agents.search.across import agents_with
from agents.search.scope import Messages

from . import ids, lookups
from .messages_out import ApiMessage, convert
from .passages import aware
from .schemas.messages import MessageOptions, MessageSearch

SEARCHED = 100  # agents, unless one is named: those with most of the query's words


class MessageResult(NamedTuple):
    """A message that a search found, with the text that was searched."""

    message: ApiMessage
    text: str
    score: float | None
    row: Message


def search_messages(request: HttpRequest, data: MessageSearch) -> list[MessageResult]:
    """The messages that match best, the best first."""
    if data.agent_id:
        agents = [lookups.agent(request, data.agent_id)]
    else:
        agents = agents_with(lookups.person(request), data.query, SEARCHED)
    results: list[MessageResult] = []
    for agent in agents:
        scope = Messages(agent, aware(data.start_date), aware(data.end_date))
        for row, score in hybrid.search(scope, data.query, data.limit).rows:
            messages = convert([row], agent, MessageOptions())
            if messages:
                results.append(MessageResult(messages[0], Messages.text(row), score, row))
    results.sort(key=lambda result: (-(result.score or 0.0), -result.row.pk))
    return results[: data.limit]


def flat(result: MessageResult) -> dict[str, Any]:
    """A result in the form of the newest SDK."""
    message = result.message
    text = message.get("reasoning") or message.get("content") or result.text
    kind = message["message_type"]
    kind = kind if kind in ("system_message", "user_message", "reasoning_message") else None
    content = {"reasoning": text} if kind == "reasoning_message" else {"content": text}
    return content | {
        "message_id": message["id"],
        "message_type": kind or "assistant_message",
        "created_at": message["date"],
        "agent_id": ids.named("agent", result.row.agent_id),
    }
