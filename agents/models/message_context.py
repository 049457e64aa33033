"""Which messages are in an agent's context, or were: as plain rows, since every step reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .message import Message
from .prepared_sql import key, values

if TYPE_CHECKING:
    from .agent import Agent

FIELDS = ("number", "role", "content", "tool_calls", "tool_call_id", "reasoning", "extra")
SENT = "status IN ('complete', 'stopped')"  # of what the model sees
IN_CONTEXT = (
    f"WHERE agent_id = %s AND number >= %s AND NOT internal AND {SENT} AND left_out IS NULL"
)
UP_TO = (
    f"WHERE agent_id = %s AND number BETWEEN %s AND %s AND NOT internal AND {SENT}"
    " AND (left_out IS NULL OR left_out > %s) ORDER BY number"
)
INTERNAL = f"WHERE run_id = %s AND number <= %s AND internal AND {SENT} ORDER BY number"


def rows_since(agent: Agent, number: int) -> list[list[Any]]:
    """The `FIELDS` of the messages in the context from this number on."""
    return values(Message, FIELDS, f"{IN_CONTEXT} ORDER BY number", key(agent), number)


def rows_between(agent: Agent, first: int, last: int) -> list[list[Any]]:
    """The same of those that were in the context when `last` was the newest."""
    return values(Message, FIELDS, UP_TO, key(agent), first, last, last)


def internal_rows(run: int | None, last: int) -> list[list[Any]]:
    """The same up to number `last` of a run that is not part of the conversation."""
    return values(Message, FIELDS, INTERNAL, run, last) if run is not None else []


def keys_in_context(agent: Agent, limit: int) -> list[int]:
    """The keys of the newest messages in an agent's context, the oldest first."""
    if not agent.message_count:
        return []
    newest = f"{IN_CONTEXT} ORDER BY number DESC LIMIT %s"
    rows = values(Message, ("id",), newest, key(agent), agent.context_from, limit)
    return [pk for (pk,) in reversed(rows)]
