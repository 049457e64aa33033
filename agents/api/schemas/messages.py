"""Messages: sent, answered, listed, searched and changed."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    field_validator,
    model_validator,
)

from agents.api.notes import Parts, Refused, Unused
from agents.outgoing import OutgoingError, check_url
from agents.search.hybrid import Mode

from .fields import Ids, Json, Many, Short
from .model_settings import BY_EFFORT, NO_LOGPROBS

BY_TOKEN = "who writes is the owner of the token"

Reason = Annotated[str, StringConstraints(max_length=10_000)]
CallId = Annotated[str, StringConstraints(max_length=200)]
LONGEST_SCHEMAS = 200_000  # characters of the JSON of all client-side tools of a request
Content = Annotated[str | list[Json] | None, Parts]


def can_be_asked(url: str | None) -> str | None:
    """An address that may be told of a run's end."""
    try:
        return url and str(check_url(url))
    except OutgoingError as error:
        raise ValueError(str(error)) from None


CallbackUrl = Annotated[str | None, AfterValidator(can_be_asked)]


class ApprovalDecision(BaseModel):
    """A decision on one tool call."""

    type: Literal["approval"] = "approval"
    tool_call_id: CallId
    approve: bool
    reason: Reason | None = None


class ToolReturned(BaseModel):
    """What a script returned for a tool call that it ran itself."""

    type: Literal["tool"] = "tool"
    tool_call_id: CallId
    tool_return: str | list[Json]
    status: Literal["success", "error"]
    stdout: Annotated[list[str], Field(max_length=1000)] | None = None
    stderr: Annotated[list[str], Field(max_length=1000)] | None = None


def kind_of_answer(given: Any) -> str:
    """Which of the two an answer is, also where it does not say its type."""
    if isinstance(given, dict):
        return str(given.get("type") or ("tool" if "tool_return" in given else "approval"))
    return str(getattr(given, "type", ""))


CallAnswer = Annotated[
    Annotated[ApprovalDecision, Tag("approval")] | Annotated[ToolReturned, Tag("tool")],
    Discriminator(kind_of_answer),
]


class NewMessage(BaseModel):
    """A message, or, with `type` "approval" or "tool_return", the answer to tool calls that wait.

    `approve`, `approval_request_id` and `reason` are the older form of an approval.
    """

    type: Literal["message", "approval", "tool_return"] | None = None
    role: Literal["user", "system", "assistant"] = "user"
    content: Content = None
    otid: Short | None = None
    sender_id: Short | None = None
    name: Annotated[Any, Unused(BY_TOKEN)] = None
    group_id: Annotated[Any, Unused("there are no groups of agents here")] = None
    batch_item_id: Annotated[Any, Unused("there are no batches here")] = None
    approve: bool | None = None
    approval_request_id: Short | None = None
    reason: Reason | None = None
    approvals: Annotated[list[CallAnswer], Field(max_length=100)] | None = None
    tool_returns: Annotated[list[ToolReturned], Field(max_length=100)] | None = None

    @model_validator(mode="after")
    def _find_type(self) -> Self:
        """A message without a type that decides is an approval, as Letta has it."""
        decides = self.approve is not None or self.approval_request_id is not None
        if self.type is None and (decides or self.approvals):
            self.type = "approval"
        if self.type == "tool_return" and not self.tool_returns:
            raise ValueError("A message of type 'tool_return' needs 'tool_returns'.")
        return self


class ClientTool(BaseModel):
    """A tool that the script runs: a call of it waits until the script sends its return."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-zA-Z0-9_-]{1,64}$")]
    description: str | None = None
    parameters: Json | None = None

    @field_validator("parameters")
    @classmethod
    def _is_an_object(cls, parameters: Json | None) -> Json | None:
        if parameters and parameters.get("type", "object") != "object":
            raise ValueError("The parameters are a JSON schema of type 'object'.")
        return parameters and {"type": "object", "properties": {}} | parameters


class ClientSkill(BaseModel):
    """Something that the script has instructions for; the agent reads them with its tools."""

    name: Short
    description: Annotated[str, StringConstraints(max_length=10_000)]
    location: Annotated[str, StringConstraints(max_length=1000)]


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


def shown_options(options: MessageOptions) -> Json:
    """How messages are shown, as a run keeps it."""
    return options.model_dump(include=set(MessageOptions.model_fields))


class SendMessages(MessageOptions):
    """Messages for an agent, or `input`, which is one message of the user."""

    messages: Annotated[list[NewMessage], Field(max_length=1000)] | None = None
    input: Content = None
    max_steps: Annotated[int, Field(ge=1, le=1000)] | None = None
    override_model: Short | None = None
    override_system: Annotated[str, StringConstraints(max_length=100_000)] | None = None
    enable_thinking: Annotated[Any, Unused(BY_EFFORT)] = None
    include_compaction_messages: Annotated[Any, Unused("the page shows compactions")] = None
    client_skills: Annotated[list[ClientSkill], Field(max_length=500)] | None = None
    return_logprobs: Annotated[Any, Refused(NO_LOGPROBS)] = None
    return_token_ids: Annotated[Any, Refused(NO_LOGPROBS)] = None
    top_logprobs: Annotated[Any, Refused(NO_LOGPROBS)] = None
    client_tools: Annotated[list[ClientTool], Field(max_length=128)] | None = None
    callback_url: CallbackUrl = None
    streaming: bool = False
    stream_tokens: bool = False
    include_pings: bool = True
    background: bool = False

    @field_validator("client_tools")
    @classmethod
    def _are_few(cls, tools: list[ClientTool] | None) -> list[ClientTool] | None:
        names = [tool.name for tool in tools or []]
        if len(set(names)) < len(names):
            raise ValueError("Two client tools have the same name; each needs its own.")
        if sum(len(tool.model_dump_json()) for tool in tools or []) > LONGEST_SCHEMAS:
            words = f"have more than {LONGEST_SCHEMAS:,} characters of JSON; shorten them."
            raise ValueError(f"The client tools {words}")
        return tools


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
        "approval_response_message",
        "tool_return_message",
        "assistant_message",
    ]
    content: str | list[Json] | None = None
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

    content: Content = None
    reasoning: str | None = None


class CancelRuns(BaseModel):
    run_ids: Ids | None = None


class ResetMessages(BaseModel):
    add_default_initial_messages: Annotated[
        Any, Unused("an agent begins with no messages unless it was made with some")
    ] = None


class MessageSearch(BaseModel):
    """What to search for in messages; those of all agents unless an agent or a
    conversation is named."""

    query: Annotated[str, StringConstraints(max_length=10_000)] = ""
    agent_id: Short | None = None
    conversation_id: Short | None = None
    search_mode: Mode = "hybrid"
    limit: Annotated[int, Field(ge=1, le=100)] = 50
    start_date: datetime | None = None
    end_date: datetime | None = None
