"""Messages in the SDKs' form: a row becomes no message, one, or several.

An assistant's row holds reasoning, text and tool calls; each becomes a message with an id of its
own. A call of `send_message` becomes the text that it sends, and its return is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder

from agents.memory.context import METADATA, Context, core_memory, metadata
from agents.models import Agent, Approval, Compaction, Message, ToolCall
from agents.tools import arguments_of, speaks_by_tool

from . import ids
from .schemas.messages import MessageOptions

WHOLE, REASONING, TEXT, CALLS = 0, 1, 2, 3  # parts of a row, as they are numbered in ids
ENCODER = DjangoJSONEncoder()
SHOWN = (Message.Status.COMPLETE, Message.Status.STOPPED)
ApiMessage = dict[str, Any]  # as `MessageState` describes it


@dataclass
class Conversion:
    """How messages are shown, and what is known of the rows around them."""

    options: MessageOptions
    by_tool: bool  # the agent talks with a tool, so the text beside its calls is reasoning
    calls: dict[tuple[int | None, str], ToolCall] = field(default_factory=dict)
    pending: set[tuple[int | None, str]] = field(default_factory=set)

    def prepare(self, rows: Sequence[Message]) -> None:
        """Look up what rows refer to: the calls that returns answer, and the pending calls."""
        self._add_calls(row for row in rows if row.role == Message.Role.ASSISTANT)
        unknown = {
            row.step_id
            for row in rows
            if row.role == Message.Role.TOOL and (row.step_id, row.tool_call_id) not in self.calls
        }
        if unknown:
            others = Message.objects.filter(step__in=unknown, role=Message.Role.ASSISTANT)
            self._add_calls(others)
        if newest := next((row for row in reversed(rows) if row.tool_calls), None):
            waiting = Approval.objects.pending().filter(step=newest.step_id)
            self.pending = {(each.step_id, each.tool_call_id) for each in waiting}

    def _add_calls(self, rows: Iterable[Message]) -> None:
        for row in rows:
            self.calls |= {(row.step_id, call.id): call for call in row.calls()}

    def messages(self, row: Message) -> list[ApiMessage]:
        """The messages that a row becomes, of the types that the options include."""
        if row.status not in SHOWN:
            return []
        if row.role == Message.Role.ASSISTANT:
            messages = self._assistant(row)
        elif row.role == Message.Role.TOOL:
            messages = self._tool_return(row)
        else:
            messages = [head(row, f"{row.role}_message") | {"content": row.content}]
        return [each for each in messages if self.options.includes(each["message_type"])]

    def _assistant(self, row: Message) -> list[ApiMessage]:
        calls = row.calls()
        messages = []
        if row.reasoning:
            messages.append(reasoning(row, row.reasoning, REASONING))
        if row.content:
            form = reasoning if calls and self.by_tool else assistant
            messages.append(form(row, row.content, TEXT))
        return messages + [self._call(row, call, CALLS + place) for place, call in enumerate(calls)]

    def _call(self, row: Message, call: ToolCall, part: int) -> ApiMessage:
        text = self.sent_text(call)
        if text is not None:
            return assistant(row, text, part)
        is_pending = (row.step_id, call.id) in self.pending
        kind = "approval_request_message" if is_pending else "tool_call_message"
        shown = {"name": call.name, "arguments": call.arguments, "tool_call_id": call.id}
        return head(row, kind, part) | {"tool_call": shown, "tool_calls": [shown]}

    def _tool_return(self, row: Message) -> list[ApiMessage]:
        call = self.calls.get((row.step_id, row.tool_call_id))
        if call and self.sent_text(call) is not None and not row.is_error:
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

    def sent_text(self, call: ToolCall) -> str | None:
        """The text that a call sends to the person; None if it is another tool's."""
        options = self.options
        if not options.use_assistant_message or call.name != options.assistant_message_tool_name:
            return None
        text = arguments_of(call.arguments).get(options.assistant_message_tool_kwarg)
        return text if isinstance(text, str) else None


def timestamp(moment: datetime) -> str:
    """A moment as the SDKs read it, to the millisecond."""
    written: str = ENCODER.default(moment)
    return written


def head(row: Message, kind: str, part: int = WHOLE) -> ApiMessage:
    """The fields that all messages have."""
    message_id = ids.numbered("message", row.pk, part)
    return {
        "id": message_id,
        "date": timestamp(row.created_at),
        "message_type": kind,
        "name": None,
        "otid": message_id.removeprefix("message-"),
        "sender_id": None,
        "step_id": ids.numbered("step", row.step_id) if row.step_id else None,
        "run_id": ids.numbered("run", row.run_id) if row.run_id else None,
        "is_err": row.is_error or None,
        "seq_id": None,
    }


def system_message(agent: Agent) -> ApiMessage:
    """The agent's system message as its model would get it now; it comes before all others.

    It has no row, and an id that does not change.
    """
    compaction = Compaction.newest(agent)
    context = Context(
        prompt=agent.system_prompt,
        core_memory=core_memory(agent, agent.core_memory()),
        metadata=metadata(METADATA, agent.message_count, agent.passage_count),
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


def reasoning(row: Message, text: str, part: int) -> ApiMessage:
    source = "reasoner_model" if part == REASONING else "non_reasoner_model"
    return head(row, "reasoning_message", part) | {
        "reasoning": text,
        "source": source,
        "signature": None,
    }


def assistant(row: Message, text: str, part: int) -> ApiMessage:
    return head(row, "assistant_message", part) | {"content": text}


def convert(rows: Sequence[Message], agent: Agent, options: MessageOptions) -> list[ApiMessage]:
    """An agent's rows in the SDKs' form."""
    conversion = Conversion(options, speaks_by_tool(agent))
    conversion.prepare(rows)
    return [message for row in rows for message in conversion.messages(row)]
