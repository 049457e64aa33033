"""The messages in a conversation's context, as they are sent.

What is complete never changes, so each process keeps the newest histories and reads only
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
from agents.models import Conversation
from agents.models.message_context import internal_rows, rows_between, rows_since

KEPT = 128  # histories; each at most about as large as a context window


class History:
    """A conversation's messages from `context_from` on, rendered for a dialect as they come."""

    def __init__(self, begins: tuple[Any, ...], dialect: Dialect, context_from: int) -> None:
        self.begins = begins
        self.rendering = Rendering(dialect)
        self.newest = context_from - 1
        self._reading = threading.Lock()

    def read(self, conversation: Conversation) -> Rendering:
        """All there is by now, to go on with."""
        with self._reading:
            rows = rows_since(conversation, self.newest + 1)
            if rows:
                self.newest = rows[-1][0]
            return add(self.rendering, rows).copy()


def add(rendering: Rendering, rows: Iterable[Sequence[Any]]) -> Rendering:
    """Take messages in, as rows of `message_context.FIELDS`."""
    for row in rows:
        rendering.add(Stored(*row))
    return rendering


_histories: OrderedDict[UUID, History] = OrderedDict()
_choosing = threading.Lock()


def context_messages(
    conversation: Conversation,
    dialect: Dialect = STRICTEST,
    internal: int | None = None,
    *,
    asks: bool = False,
) -> list[Sent]:
    """The messages in the context, oldest first; at their end those of an internal run.

    `asks`: they are sent as they are, with nothing more to come.
    """
    begins = (conversation.context_from, conversation.rewritten, dialect)
    with _choosing:
        kept = _histories.pop(conversation.pk, None)
        if kept is None or kept.begins != begins:
            kept = History(begins, dialect, conversation.context_from)
        _histories[conversation.pk] = kept
        if len(_histories) > KEPT:
            _histories.popitem(last=False)
    own = internal_rows(internal, conversation.agent.message_count)
    return add(kept.read(conversation), own).finished(asks=asks)


def messages_between(
    conversation: Conversation, first: int, last: int, internal: int | None, dialect: Dialect
) -> list[Sent]:
    """The messages that were in the context when `last` was the newest."""
    between = Rendering(dialect)
    add(between, rows_between(conversation, first, last))
    return add(between, internal_rows(internal, last)).finished()
