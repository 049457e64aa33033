"""Searching what was said: in one agent's messages or in all of a person's."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from agents.models import Message
from agents.search import hybrid
from agents.search.across import agents_with
from agents.search.scope import Messages

from . import ids, lookups
from .messages_out import convert
from .passages import aware
from .schemas.messages import MessageSearch, Told

SEARCHED = 100  # agents, where none is named: those that have most of the query's words
Found = tuple[dict[str, Any], str, float | None, Message]


def searched(request: HttpRequest, data: MessageSearch) -> list[Found]:
    if data.agent_id:
        agents = [lookups.agent(request, data.agent_id)]
    else:
        agents = agents_with(lookups.person(request), data.query, SEARCHED)
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
