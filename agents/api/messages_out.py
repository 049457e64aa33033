"""Messages in the SDKs' form: a row becomes no message, one, or several.

An assistant's row holds reasoning, text and tool calls; each becomes a message with an id of its
own. A call of `send_message` becomes the text that it sends, and its return is left out. Calls that
had to wait become one request for approval, and stay it; lists have what was answered, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder

from agents.memory.context import METADATA, Context, core_memory, metadata
from agents.models import Agent, Approval, Compaction, Conversation, Message, Run, ToolCall
from agents.tools import arguments_of, speaks_by_tool

from . import ids
from .approvals_out import (
    ANSWERS,
    ByCall,
    answered_together,
    asked_of,
    asked_together,
    response_fields,
)
from .content import parts_of
from .schemas.messages import MessageOptions

WHOLE, REASONING, TEXT, CALLS = 0, 1, 2, 3  # parts of a row, as they are numbered in ids
REQUEST = "approval_request_message"
ENCODER = DjangoJSONEncoder()
SHOWN = (Message.Status.COMPLETE, Message.Status.STOPPED)
ApiMessage = dict[str, Any]  # as `MessageState` describes it


@dataclass
class Conversion:
    """How messages are shown, and what is known of the rows around them."""

    options: MessageOptions
    by_tool: bool  # the agent talks with a tool, so the text beside its calls is reasoning
    listed: bool = False  # the messages are read later, with what was answered to requests
    calls: dict[tuple[int | None, str], ToolCall] = field(default_factory=dict)
    asked: dict[int, ByCall] = field(default_factory=dict)

    def prepare(self, rows: Sequence[Message]) -> None:
        """Look up what rows refer to: the calls that returns answer, and what was asked of them."""
        self._add_calls(row for row in rows if row.role == Message.Role.ASSISTANT)
        unknown = {
            row.step_id
            for row in rows
            if row.role == Message.Role.TOOL and (row.step_id, row.tool_call_id) not in self.calls
        }
        if unknown:
            others = Message.objects.filter(step__in=unknown, role=Message.Role.ASSISTANT)
            self._add_calls(others)
        self.asked |= asked_of(rows)

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
            said = parts_of(row.content, row.images) if row.images else row.content
            messages = [head(row, f"{row.role}_message") | {"content": said}]
        return [each for each in messages if self.options.includes(each["message_type"])]

    def _assistant(self, row: Message) -> list[ApiMessage]:
        calls = row.calls()
        messages = []
        if row.reasoning:
            messages.append(reasoning(row, row.reasoning, REASONING))
        if row.content:
            form = reasoning if calls and self.by_tool else assistant
            messages.append(form(row, row.content, TEXT))
        return messages + self._calls(row, calls)

    def _calls(self, row: Message, calls: Sequence[ToolCall]) -> list[ApiMessage]:
        """The calls of a row: those asked about at once are one request, where the first stands."""
        asked = self.asked.get(row.step_id or 0, {})
        parts = {call.id: CALLS + place for place, call in enumerate(calls)}
        messages = []
        for call in calls:
            if call.id not in asked:
                messages.append(self._call(row, call, parts[call.id]))
            elif call.id == (together := asked_together(asked, call.id))[0]:
                waiting = [each for each in calls if each.id in together]
                messages.append(called(row, REQUEST, parts[call.id], *waiting))
        for answers in answered_together(asked) if self.listed else []:
            part = ANSWERS + parts.get(answers[0].tool_call_id, CALLS)
            answered = head(row, "approval_response_message", part) | response_fields(answers)
            messages.append(answered | {"date": timestamp(answers[0].decided_at or row.created_at)})
        return messages

    def _call(self, row: Message, call: ToolCall, part: int) -> ApiMessage:
        text = self.sent_text(call)
        if text is not None:
            return assistant(row, text, part)
        return called(row, "tool_call_message", part, call)

    def _tool_return(self, row: Message) -> list[ApiMessage]:
        call = self.calls.get((row.step_id, row.tool_call_id))
        approval = self.asked.get(row.step_id or 0, {}).get(row.tool_call_id)
        if call and not row.is_error and (text := self.sent_text(call, approval)) is not None:
            return [assistant(row, text, TEXT)] if approval else []
        shown = {
            "tool_return": row.content,
            "status": "error" if row.is_error else "success",
            "tool_call_id": row.tool_call_id,
            "stdout": [row.stdout] if row.stdout else [],
            "stderr": [row.content] if row.is_error else [],
        }
        if approval and approval.returned:
            shown |= {name: approval.returned[name] or [] for name in ("stdout", "stderr")}
        return [
            head(row, "tool_return_message")
            | shown
            | {"name": call.name if call else None, "tool_returns": [shown | {"type": "tool"}]}
        ]

    def sent_text(self, call: ToolCall, approval: Approval | None = None) -> str | None:
        """The text that a call sends to the person, as approved; None if it is another tool's."""
        options = self.options
        if not options.use_assistant_message or call.name != options.assistant_message_tool_name:
            return None
        arguments = (approval.arguments if approval else "") or call.arguments
        text = arguments_of(arguments).get(options.assistant_message_tool_kwarg)
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
        "name": row.said_by or None,
        "otid": message_id.removeprefix("message-"),
        "sender_id": row.sender_id or None,
        "step_id": ids.numbered("step", row.step_id) if row.step_id else None,
        "run_id": ids.numbered("run", row.run_id) if row.run_id else None,
        "is_err": row.is_error or None,
        "seq_id": None,
    }


def system_message(conversation: Conversation) -> ApiMessage:
    """The system message as the model would get it now; it comes before all others.

    It has no row, and an id that does not change.
    """
    agent, compaction = conversation.agent, Compaction.newest(conversation)
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


def called(row: Message, kind: str, part: int, *calls: ToolCall) -> ApiMessage:
    """A message that shows calls; older clients read the first."""
    shown = [
        {"name": call.name, "arguments": call.arguments, "tool_call_id": call.id} for call in calls
    ]
    return head(row, kind, part) | {"tool_call": shown[0], "tool_calls": shown}


def convert(
    rows: Sequence[Message], agent: Agent, options: MessageOptions, *, listed: bool = False
) -> list[ApiMessage]:
    """An agent's rows in the SDKs' form; `listed`: with what was answered to requests."""
    conversion = Conversion(options, speaks_by_tool(agent), listed)
    conversion.prepare(rows)
    return [message for row in rows for message in conversion.messages(row)]


def pending_request(run: Run) -> ApiMessage | None:
    """The first request that a run waits for."""
    requests = requests_of(run, MessageOptions())
    return requests[0][1] if requests else None


def requests_of(run: Run, options: MessageOptions) -> list[tuple[Message, ApiMessage]]:
    """The requests that a run waits for, each with the row that makes the calls."""
    if run.status != Run.Status.WAITING:
        return []
    pending = {each.step_id for each in Approval.objects.pending().filter(step__run=run.pk)}
    calling = Message.objects.filter(step__in=pending, role=Message.Role.ASSISTANT)
    found = [(row, message) for row in calling for message in convert([row], run.agent, options)]
    return [(row, message) for row, message in found if message["message_type"] == REQUEST]
