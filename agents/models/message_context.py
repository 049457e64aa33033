"""Which messages are in a conversation's context, or were: plain rows, as every step reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .message import Message, left_out_when
from .prepared_sql import key, values

if TYPE_CHECKING:
    from .conversation import Conversation

FIELDS = (
    *("number", "role", "content", "tool_calls", "tool_call_id", "reasoning", "extra", "images"),
    "said_by",
)
SENT = "status IN ('complete', 'stopped')"  # of what the model sees
IN_CONTEXT = (
    f"WHERE conversation_id = %s AND number >= %s AND NOT internal AND {SENT} AND left_out IS NULL"
)
UP_TO = (
    f"WHERE conversation_id = %s AND number BETWEEN %s AND %s AND NOT internal AND {SENT}"
    " AND (left_out IS NULL OR left_out > %s) ORDER BY number"
)
ABSENCES = "absences"  # read beside them, and looked at here, as no database reads JSON alike
INTERNAL = f"WHERE run_id = %s AND number <= %s AND internal AND {SENT} ORDER BY number"


def rows_since(conversation: Conversation, number: int) -> list[list[Any]]:
    """The `FIELDS` of the messages in the context from this number on."""
    return values(Message, FIELDS, f"{IN_CONTEXT} ORDER BY number", key(conversation), number)


def rows_between(conversation: Conversation, first: int, last: int) -> list[list[Any]]:
    """The same of those that were in the context when `last` was the newest."""
    names = (*FIELDS, ABSENCES)
    rows = values(Message, names, UP_TO, key(conversation), first, last, last)
    return [row for *row, absences in rows if left_out_when(last, None, absences) is None]


def internal_rows(run: int | None, last: int) -> list[list[Any]]:
    """The same up to number `last` of a run that is not part of the conversation."""
    return values(Message, FIELDS, INTERNAL, run, last) if run is not None else []


def keys_in_context(conversation: Conversation, limit: int) -> list[int]:
    """The keys of the newest messages in a conversation's context, the oldest first."""
    newest = f"{IN_CONTEXT} ORDER BY number DESC LIMIT %s"
    parameters = key(conversation), conversation.context_from, limit
    rows = values(Message, ("id",), newest, *parameters)
    return [pk for (pk,) in reversed(rows)]
