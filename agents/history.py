"""The messages in an agent's context, as they are sent.

What is complete never changes, so each process keeps the newest agents' histories and reads only
what came since: a step costs the same after ten messages and after ten thousand.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from agents.models import Agent, Message
from agents.models.statements import key, values

KEPT = 128  # histories; each at most about as large as a context window
SAID = "status IN ('complete', 'stopped')"
IN_CONTEXT = f"WHERE agent_id = %s AND number >= %s AND NOT aside AND {SAID} ORDER BY number"
UP_TO = f"WHERE agent_id = %s AND number BETWEEN %s AND %s AND NOT aside AND {SAID} ORDER BY number"
ASIDE = f"WHERE run_id = %s AND number <= %s AND aside AND {SAID} ORDER BY number"
FIELDS = ("number", "role", "content", "tool_calls", "tool_call_id")


class Sent(NamedTuple):
    """A message as JSON; `begins` an exchange if it is a person's. `size` is in bytes."""

    number: int
    begins: bool
    json: str
    size: int


class History:
    """An agent's messages from `context_from` on.

    Every tool call is followed by its return, whatever is stored: a call that was never answered
    (from an import, say) is followed by a return that says so, and a return without its call is
    left out.
    """

    def __init__(self, context_from: int, rewritten: int = 0) -> None:
        self.context_from, self.rewritten = context_from, rewritten
        self.newest = context_from - 1
        self.sent: list[Sent] = []
        self.waiting: list[str] = []  # calls whose returns are still to come
        self._reading = threading.Lock()

    def read(self, agent: Agent) -> list[Sent]:
        """All there is by now."""
        with self._reading:
            self.add(values(Message, FIELDS, IN_CONTEXT, key(agent), self.newest + 1))
            return self.all()

    def all(self) -> list[Sent]:
        """What was read, every call answered."""
        return [*self.sent, *self._unanswered()]

    def add(self, messages: Iterable[Sequence[Any]]) -> None:
        """Take messages in, as rows of `FIELDS`."""
        for message in messages:
            self._add(*message)

    def _add(
        self, number: int, role: str, content: str, calls: list[dict[str, str]], call_id: str
    ) -> None:
        self.newest = number
        if role == Message.Role.TOOL:
            if call_id not in self.waiting:
                return
            self.waiting.remove(call_id)
        else:
            self.sent += self._unanswered()
            self.waiting = [call["id"] for call in calls]
        self.sent.append(
            sent(number, message_as_sent(role, content, calls, call_id), role == Message.Role.USER)
        )

    def _unanswered(self) -> list[Sent]:
        said = "No return is known."
        return [
            sent(self.newest, message_as_sent("tool", said, [], call_id))
            for call_id in self.waiting
        ]


def sent(number: int, message: dict[str, Any], begins: bool = False) -> Sent:
    as_sent = dumps(message)
    return Sent(number, begins, as_sent, len(as_sent.encode()))


_histories: OrderedDict[UUID, History] = OrderedDict()
_choosing = threading.Lock()


def history(agent: Agent, aside: int | None = None) -> list[Sent]:
    """The messages in the agent's context, oldest first; at their end those of a run aside."""
    with _choosing:
        kept = _histories.pop(agent.pk, None)
        begins = (agent.context_from, agent.rewritten)
        if kept is None or (kept.context_from, kept.rewritten) != begins:
            kept = History(*begins)
        _histories[agent.pk] = kept
        if len(_histories) > KEPT:
            _histories.popitem(last=False)
    return kept.read(agent) + said_aside(aside, agent.message_count)


def history_between(agent: Agent, first: int, last: int, aside: int | None) -> list[Sent]:
    """The messages that were in the context when `last` was the newest, as `history` has them."""
    between = History(first)
    between.add(values(Message, FIELDS, UP_TO, key(agent), first, last))
    return between.all() + said_aside(aside, last)


def said_aside(run: int | None, last: int) -> list[Sent]:
    """The messages up to number `last` of a run that is not part of the conversation."""
    apart = History(0)
    if run is not None:
        apart.add(values(Message, FIELDS, ASIDE, run, last))
    return apart.all()


def message_as_sent(
    role: str, content: str, calls: list[dict[str, str]], call_id: str
) -> dict[str, Any]:
    """A message in the words of the chat-completions wire."""
    sent: dict[str, Any] = {"role": role, "content": content}
    if calls:
        sent["content"] = content or None
        sent["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": call["arguments"]},
            }
            for call in calls
        ]
    if role == Message.Role.TOOL:
        sent["tool_call_id"] = call_id
    return sent


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
