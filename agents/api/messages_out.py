"""Messages as the wire has them: a row of ours is none, one or several of theirs.

An assistant's row holds reasoning, text and tool calls; on the wire each is a message with an id of
its own. `send_message` is shown as what it says, and its return is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from agents.memory.context import Context, core_memory, metadata
from agents.models import Agent, Approval, Compaction, Message, ToolCall
from agents.tools import arguments_of, speaks_by_tool

from . import ids
from .schemas.messages import Told

WHOLE, REASONING, TEXT, CALLS = 0, 1, 2, 3  # parts of a row, as they are numbered in ids
SHOWN = (Message.Status.COMPLETE, Message.Status.STOPPED)
Wire = dict[str, Any]


@dataclass
class Conversion:
    """How messages are shown, and what is known of the rows around them."""

    told: Told
    by_tool: bool  # the agent talks with a tool: the text beside its calls is what it thinks
    calls: dict[tuple[int | None, str], ToolCall] = field(default_factory=dict)
    pending: set[tuple[int | None, str]] = field(default_factory=set)

    def learn(self, rows: Sequence[Message]) -> None:
        """Look up what rows refer to: the calls that returns answer, and which calls wait."""
        self._take(row for row in rows if row.role == Message.Role.ASSISTANT)
        unknown = {
            row.step_id
            for row in rows
            if row.role == Message.Role.TOOL and (row.step_id, row.tool_call_id) not in self.calls
        }
        if unknown:
            asked = Message.objects.filter(step__in=unknown, role=Message.Role.ASSISTANT)
            self._take(asked)
        if newest := next((row for row in reversed(rows) if row.tool_calls), None):
            waiting = Approval.objects.pending().filter(step=newest.step_id)
            self.pending = {(each.step_id, each.tool_call_id) for each in waiting}

    def _take(self, rows: Iterable[Message]) -> None:
        for row in rows:
            self.calls |= {(row.step_id, call.id): call for call in row.calls()}

    def wire(self, row: Message) -> list[Wire]:
        """The messages that a row is, of the types that are wanted."""
        if row.status not in SHOWN:
            return []
        wanted = self.told.include_return_message_types
        parts = {
            Message.Role.ASSISTANT: self._assistant,
            Message.Role.TOOL: self._returned,
        }.get(Message.Role(row.role), self._said)
        return [each for each in parts(row) if not wanted or each["message_type"] in wanted]

    def _said(self, row: Message) -> list[Wire]:
        return [head(row, f"{row.role}_message") | {"content": row.content}]

    def _assistant(self, row: Message) -> list[Wire]:
        calls = row.calls()
        found = []
        if row.reasoning:
            found.append(reasoning(row, row.reasoning, REASONING))
        if row.content:
            said = reasoning if calls and self.by_tool else assistant
            found.append(said(row, row.content, TEXT))
        return found + [self._call(row, call, CALLS + place) for place, call in enumerate(calls)]

    def _call(self, row: Message, call: ToolCall, part: int) -> Wire:
        said = self.spoken(call)
        if said is not None:
            return assistant(row, said, part)
        waits = (row.step_id, call.id) in self.pending
        kind = "approval_request_message" if waits else "tool_call_message"
        shown = {"name": call.name, "arguments": call.arguments, "tool_call_id": call.id}
        return head(row, kind, part) | {"tool_call": shown, "tool_calls": [shown]}

    def _returned(self, row: Message) -> list[Wire]:
        call = self.calls.get((row.step_id, row.tool_call_id))
        if call and self.spoken(call) is not None and not row.is_error:
            return []
        shown = {
            "tool_return": row.content,
            "status": "error" if row.is_error else "success",
            "tool_call_id": row.tool_call_id,
            "stdout": [row.stdout] if row.stdout else [],
            "stderr": [row.content] if row.is_error else [],
        }
        return [
            head(row, "tool_return_message")
            | shown
            | {"name": call.name if call else None, "tool_returns": [shown | {"type": "tool"}]}
        ]

    def spoken(self, call: ToolCall) -> str | None:
        """What a call says to the person; None if it is an ordinary one."""
        if not self.told.use_assistant_message:
            return None
        if call.name != self.told.assistant_message_tool_name:
            return None
        said = arguments_of(call.arguments).get(self.told.assistant_message_tool_kwarg)
        return said if isinstance(said, str) else None


def head(row: Message, kind: str, part: int = WHOLE) -> Wire:
    """What all messages have."""
    message_id = ids.numbered("message", row.pk, part)
    return {
        "id": message_id,
        "date": row.created_at,
        "message_type": kind,
        "name": None,
        "otid": message_id.removeprefix("message-"),
        "sender_id": None,
        "step_id": ids.numbered("step", row.step_id) if row.step_id else None,
        "run_id": ids.numbered("run", row.run_id) if row.run_id else None,
        "is_err": row.is_error or None,
        "seq_id": None,
    }


def system_message(agent: Agent) -> Wire:
    """The agent's system message as its model would get it now. All that was said comes after it.

    It has no row, and an id that stays.
    """
    compaction = Compaction.newest(agent)
    context = Context(
        prompt=agent.system_prompt,
        core_memory=core_memory(agent, agent.core_memory()),
        metadata=metadata(agent),
        summary=compaction.summary if compaction else "",
        tools="",
        history=(),
    )
    shown = head(Message(pk=0, created_at=agent.created_at), "system_message")
    message_id = ids.system_message(agent.pk)
    return shown | {
        "id": message_id,
        "otid": message_id.removeprefix("message-"),
        "content": context.system,
    }


def reasoning(row: Message, text: str, part: int) -> Wire:
    source = "reasoner_model" if part == REASONING else "non_reasoner_model"
    return head(row, "reasoning_message", part) | {
        "reasoning": text,
        "source": source,
        "signature": None,
    }


def assistant(row: Message, text: str, part: int) -> Wire:
    return head(row, "assistant_message", part) | {"content": text}


def convert(rows: Sequence[Message], agent: Agent, told: Told) -> list[Wire]:
    """Rows of an agent as messages of the wire."""
    conversion = Conversion(told, speaks_by_tool(agent))
    conversion.learn(rows)
    return [each for row in rows for each in conversion.wire(row)]
