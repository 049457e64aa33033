"""The messages in an agent's context, as they are sent.

What is complete never changes, so each process keeps the newest agents' histories and reads only
what came since: a step costs the same after ten messages and after ten thousand.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from typing import Any, NamedTuple
from uuid import UUID

from agents.models import Agent, Message
from agents.models.statements import key, values

KEPT = 128  # histories; each at most about as large as a context window
IN_CONTEXT = (
    "WHERE agent_id = %s AND number >= %s AND status IN ('complete', 'stopped') ORDER BY number"
)
FIELDS = ("number", "role", "content", "tool_calls", "tool_call_id")


class Sent(NamedTuple):
    """A message as JSON; `begins` an exchange if it is a person's."""

    number: int
    begins: bool
    json: str


class History:
    """An agent's messages from `context_from` on.

    Every tool call is followed by its return, whatever is stored: a call that was never answered
    (from an import, say) is followed by a return that says so, and a return without its call is
    left out.
    """

    def __init__(self, context_from: int) -> None:
        self.context_from = context_from
        self.newest = context_from - 1
        self.sent: list[Sent] = []
        self.waiting: list[str] = []  # calls whose returns are still to come
        self._reading = threading.Lock()

    def read(self, agent: Agent) -> list[Sent]:
        """All there is by now."""
        with self._reading:
            for message in values(Message, FIELDS, IN_CONTEXT, key(agent), self.newest + 1):
                self._add(*message)
            return [*self.sent, *self._unanswered()]

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
        as_sent = dumps(message_as_sent(role, content, calls, call_id))
        self.sent.append(Sent(number, role == Message.Role.USER, as_sent))

    def _unanswered(self) -> list[Sent]:
        said = "No return is known."
        return [
            Sent(self.newest, False, dumps(message_as_sent("tool", said, [], call_id)))
            for call_id in self.waiting
        ]


_histories: OrderedDict[UUID, History] = OrderedDict()
_choosing = threading.Lock()


def history(agent: Agent) -> list[Sent]:
    """The messages in the agent's context, oldest first."""
    with _choosing:
        kept = _histories.pop(agent.pk, None)
        if kept is None or kept.context_from != agent.context_from:
            kept = History(agent.context_from)
        _histories[agent.pk] = kept
        if len(_histories) > KEPT:
            _histories.popitem(last=False)
    return kept.read(agent)


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
