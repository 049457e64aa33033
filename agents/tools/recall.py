"""The tool with which an agent searches recall memory: everything that was ever said."""

from __future__ import annotations

from typing import Any, Literal

from agents.models import Message
from agents.search.hybrid import search
from agents.search.scope import Messages

from .results import as_json, checked_count, date_range, zone_of
from .tool import Caller, tool

ROLES = ("system", "user", "assistant")  # unless asked for others
SPEAKERS = {
    "user": "the person",
    "assistant": "you",
    "system": "the system",
    "tool": "a tool",
}
MOST_AROUND = 200  # characters of what was said before and after a result


@tool(of_memory=True)
def conversation_search(
    caller: Caller,
    query: str,
    roles: list[Literal["system", "user", "assistant", "tool"]] | None = None,
    limit: int = 10,
    start_date: str | None = None,
    end_date: str | None = None,
) -> str:
    """Search everything that was said before, also what you no longer see. The best comes first.

    Each result says when it was said and by whom, and what was said right before and after it. The
    message you are answering now is not searched.

    Args:
        query: Words or a question. Empty lists the newest messages.
        roles: Who said it; unless given, all but the tools' returns.
        limit: How many results at most, 1 to 100.
        start_date: Only what was said from then on, as 2026-01-31 or 2026-01-31T18:30.
        end_date: Only what was said until then; a date means to the end of that day.
    """
    zone = zone_of(caller.agent)
    since, until = date_range(zone, start_date=start_date, end_date=end_date)
    but = caller.step.run_id
    scope = Messages(
        caller.agent, since, until, tuple(roles or ROLES), but, payer_id=caller.payer_id
    )
    results = search(scope, query, checked_count(limit, "limit"))
    hits = [message for message, _ in results.rows]
    around = messages_around(Messages(caller.agent, but=but), hits)
    return as_json(
        results, query, lambda message: fields_of(message) | around.get(message.pk, {}), zone
    )


def fields_of(message: Message) -> dict[str, Any]:
    said_by = SPEAKERS[message.role]
    return {"said_by": said_by, "role": message.role, "text": Messages.text(message)}


def messages_around(scope: Messages, hits: list[Message]) -> dict[int, dict[str, Any]]:
    """Of each message what was said right before and after it, within the hour, by its key."""
    near = scope.neighbours([hit.pk for hit in hits], 1)
    lines = scope.rows([key for keys in near.values() for key in keys])
    around: dict[int, dict[str, Any]] = {}
    for hit in hits:
        for line in (lines[key] for key in near.get(hit.pk, ()) if key in lines):
            text = scope.text(line)
            text = text if len(text) <= MOST_AROUND else f"{text[:MOST_AROUND].rstrip()}…"
            place = "before" if line.number < hit.number else "after"
            around.setdefault(hit.pk, {})[place] = {"said_by": SPEAKERS[line.role], "text": text}
    return around
