"""The messages in an agent's context, as they are sent.

What is complete never changes, so each process keeps the newest agents' histories and reads only
what came since: a step costs the same after ten messages and after ten thousand.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from agents.llm.dialects import STRICTEST, Dialect
from agents.llm.rendering import Rendering, Sent, Stored
from agents.models import Agent, Message
from agents.models.prepared_sql import key, values

KEPT = 128  # histories; each at most about as large as a context window
SAID = "status IN ('complete', 'stopped')"
IN_CONTEXT = (
    f"WHERE agent_id = %s AND number >= %s AND NOT internal AND {SAID} AND left_out IS NULL"
    " ORDER BY number"
)
UP_TO = (
    f"WHERE agent_id = %s AND number BETWEEN %s AND %s AND NOT internal AND {SAID}"
    " AND (left_out IS NULL OR left_out > %s) ORDER BY number"
)
INTERNAL = f"WHERE run_id = %s AND number <= %s AND internal AND {SAID} ORDER BY number"
FIELDS = ("number", "role", "content", "tool_calls", "tool_call_id", "reasoning", "extra")


class History:
    """An agent's messages from `context_from` on, rendered for a dialect as they come."""

    def __init__(self, begins: tuple[Any, ...], dialect: Dialect, context_from: int) -> None:
        self.begins = begins
        self.rendering = Rendering(dialect)
        self.newest = context_from - 1
        self._reading = threading.Lock()

    def read(self, agent: Agent) -> Rendering:
        """All there is by now, to go on with."""
        with self._reading:
            rows = values(Message, FIELDS, IN_CONTEXT, key(agent), self.newest + 1)
            if rows:
                self.newest = rows[-1][0]
            return add(self.rendering, rows).copy()


def add(rendering: Rendering, rows: Iterable[Sequence[Any]]) -> Rendering:
    """Take messages in, as rows of `FIELDS`."""
    for row in rows:
        rendering.add(Stored(*row))
    return rendering


_histories: OrderedDict[UUID, History] = OrderedDict()
_choosing = threading.Lock()


def context_messages(
    agent: Agent, dialect: Dialect = STRICTEST, internal: int | None = None, *, asks: bool = False
) -> list[Sent]:
    """The messages in the agent's context, oldest first; at their end those of an internal run.

    `asks`: they are sent as they are, with nothing more to come.
    """
    begins = (agent.context_from, agent.rewritten, dialect)
    with _choosing:
        kept = _histories.pop(agent.pk, None)
        if kept is None or kept.begins != begins:
            kept = History(begins, dialect, agent.context_from)
        _histories[agent.pk] = kept
        if len(_histories) > KEPT:
            _histories.popitem(last=False)
    return add(kept.read(agent), internal_rows(internal, agent.message_count)).finished(asks=asks)


def messages_between(
    agent: Agent, first: int, last: int, internal: int | None, dialect: Dialect
) -> list[Sent]:
    """The messages that were in the context when `last` was the newest."""
    between = Rendering(dialect)
    add(between, values(Message, FIELDS, UP_TO, key(agent), first, last, last))
    return add(between, internal_rows(internal, last)).finished()


def internal_rows(run: int | None, last: int) -> list[list[Any]]:
    """The messages up to number `last` of a run that is not part of the conversation, as rows."""
    return values(Message, FIELDS, INTERNAL, run, last) if run is not None else []
