"""Messages: sent, answered, listed, searched and changed."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from .fields import Ids, Json, Many, Short


class ToolApproval(BaseModel):
    """A person's decision on one tool call."""

    tool_call_id: str | None = None
    approve: bool | None = None
    reason: str | None = None


class NewMessage(BaseModel):
    """A message, or, with `type` "approval", a decision on the tool calls that wait for one."""

    type: Literal["message", "approval", "tool_return"] | None = None
    role: Literal["user", "system", "assistant"] = "user"
    content: str | list[Json] | None = None
    otid: Short | None = None
    approve: bool | None = None
    approval_request_id: Short | None = None
    reason: Annotated[str, StringConstraints(max_length=10_000)] | None = None
    approvals: Annotated[list[ToolApproval], Field(max_length=100)] | None = None


class MessageOptions(BaseModel):
    """How messages are shown."""

    use_assistant_message: bool = True
    assistant_message_tool_name: Short = "send_message"
    assistant_message_tool_kwarg: Short = "message"
    include_return_message_types: Many | None = None

    def includes(self, message_type: str) -> bool:
        """Whether messages of this type are shown."""
        types = self.include_return_message_types
        return not types or message_type in types


class SendMessages(MessageOptions):
    """Messages for an agent, or `input`, which is one message of the user."""

    messages: Annotated[list[NewMessage], Field(max_length=1000)] | None = None
    input: str | list[Json] | None = None
    max_steps: Annotated[int, Field(ge=1, le=1000)] | None = None
    streaming: bool = False
    stream_tokens: bool = False
    include_pings: bool = True
    background: bool = False


class ToolCallState(BaseModel):
    name: str | None = None
    arguments: str | None = None
    tool_call_id: str | None = None


class MessageState(BaseModel):
    """A message as the SDKs expect it; which fields it has depends on `message_type`."""

    model_config = ConfigDict(extra="allow")

    id: str
    date: datetime
    message_type: Literal[
        "system_message",
        "user_message",
        "reasoning_message",
        "tool_call_message",
        "approval_request_message",
        "tool_return_message",
        "assistant_message",
    ]
    content: str | None = None
    reasoning: str | None = None
    tool_call: ToolCallState | None = None
    tool_return: str | None = None
    status: Literal["success", "error"] | None = None
    run_id: str | None = None
    step_id: str | None = None


class StopReason(BaseModel):
    message_type: Literal["stop_reason"] = "stop_reason"
    stop_reason: str


class Usage(BaseModel):
    """Tokens, as the endpoint reported them, and steps."""

    message_type: Literal["usage_statistics"] = "usage_statistics"
    completion_tokens: int
    prompt_tokens: int
    total_tokens: int
    step_count: int
    context_tokens: int | None = None
    run_ids: list[str] | None = None


class Response(BaseModel):
    """The messages of a run. `error` is set if the run failed after the answer had started."""

    messages: list[MessageState]
    stop_reason: StopReason
    usage: Usage
    error: str | None = None


class MessageChange(BaseModel):
    """The new text of a past message."""

    content: str | list[Json] | None = None
    reasoning: str | None = None


class CancelRuns(BaseModel):
    run_ids: Ids | None = None


class ResetMessages(BaseModel):
    add_default_initial_messages: bool = False


class MessageSearch(BaseModel):
    """What to search for in messages; those of all agents unless one is named."""

    query: Annotated[str, StringConstraints(max_length=10_000)] = ""
    agent_id: Short | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 50
    start_date: datetime | None = None
    end_date: datetime | None = None
