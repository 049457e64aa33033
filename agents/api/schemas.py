"""What scripts send and get, as pydantic models: the OpenAPI document is made of them.

What is sent may hold more fields than these, as each version of the SDKs has its own; those are
passed over. Texts have been cleaned of what no database holds (`parser.py`).
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from agents.models.block import LABEL

Short = Annotated[str, StringConstraints(max_length=200)]
Tag = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Tags = Annotated[list[Tag], Field(max_length=50)]
Ids = Annotated[list[Short], Field(max_length=100)]
Label = Annotated[
    str, StringConstraints(min_length=1, max_length=50, pattern=f"^{LABEL.pattern[2:-2]}$")
]
Text = Annotated[str, StringConstraints(max_length=1_000_000)]
Characters = Annotated[int, Field(ge=1, le=1_000_000)]
Window = Annotated[int, Field(ge=1000, le=10_000_000)]
Json = dict[str, Any]


def several(given: Any) -> Any:
    """A query's list: each value by itself, or all in one with commas."""
    return given.split(",") if isinstance(given, str) else given


Many = Annotated[list[Short], BeforeValidator(several), Field(max_length=100)]
Order = Literal["asc", "desc"]


class Done(BaseModel):
    """That it was done."""

    message: str


class Health(BaseModel):
    version: str
    status: str


# -- blocks ----------------------------------------------------------------------------------------


class NewBlock(BaseModel):
    """A block to make. `name` (and `template_name`) are a script's own."""

    label: Label
    value: Text = ""
    limit: Characters | None = None
    description: Annotated[str, StringConstraints(max_length=500)] | None = None
    read_only: bool = False
    name: Short | None = None
    template_name: Short | None = None
    tags: Tags | None = None
    metadata: Json | None = None


class BlockChange(BaseModel):
    """What of a block is to change."""

    label: Label | None = None
    value: Text | None = None
    limit: Characters | None = None
    description: Annotated[str, StringConstraints(max_length=500)] | None = None
    read_only: bool | None = None
    name: Short | None = None
    template_name: Short | None = None
    tags: Tags | None = None
    metadata: Json | None = None


class BlockState(BaseModel):
    """A block of core memory."""

    id: str
    label: str
    value: str
    limit: int
    description: str | None = None
    read_only: bool = False
    is_template: bool = False
    template_name: str | None = None
    name: str | None = None
    metadata: Json = {}
    tags: list[str] = []
    hidden: bool | None = None
    project_id: str | None = None
    created_by_id: str | None = None
    last_updated_by_id: str | None = None


class CoreMemory(BaseModel):
    """An agent's blocks and the Jinja2 template that compiles them."""

    blocks: list[BlockState]
    file_blocks: list[Json] = []
    prompt_template: str


# -- tools -----------------------------------------------------------------------------------------


class NewTool(BaseModel):
    """A tool to make of its source. Name, description and schema are read off the source."""

    source_code: Annotated[str, StringConstraints(min_length=1, max_length=100_000)]
    source_type: str | None = None
    tags: Tags | None = None
    return_char_limit: Annotated[int, Field(ge=1, le=1_000_000)] | None = None


class ToolChange(BaseModel):
    """What of a tool is to change."""

    source_code: Annotated[str, StringConstraints(min_length=1, max_length=100_000)] | None = None
    tags: Tags | None = None
    return_char_limit: Annotated[int, Field(ge=1, le=1_000_000)] | None = None


class SourceToRun(BaseModel):
    """A function and what to call it with; it works on the memory of `agent_id`, or on none."""

    source_code: Annotated[str, StringConstraints(min_length=1, max_length=100_000)]
    args: Json = {}
    name: Short | None = None
    agent_id: Short | None = None


class Ran(BaseModel):
    """What a function came to. Nothing it changed was kept."""

    id: str
    date: datetime
    message_type: Literal["tool_return_message"] = "tool_return_message"
    tool_call_id: str
    tool_return: str
    status: Literal["success", "error"]
    stdout: list[str]
    stderr: list[str]


class ToolState(BaseModel):
    """A tool: a user's own (`custom`), or one that memoryweb brings."""

    id: str
    name: str
    tool_type: Literal["custom", "letta_core", "letta_memory_core"]
    description: str
    source_type: str = "python"
    source_code: str | None = None
    json_schema: Json
    args_json_schema: Json = {}
    tags: list[str] = []
    return_char_limit: int
    default_requires_approval: bool | None = None
    created_by_id: str | None = None
    last_updated_by_id: str | None = None
    metadata_: Json = {}


# -- identities ------------------------------------------------------------------------------------

Given = Annotated[str, StringConstraints(min_length=1, max_length=200)]
IdentityType = Literal["org", "user", "other"]


class Property(BaseModel):
    """Something a script wants to remember of an identity."""

    key: Given
    value: bool | int | float | Text | Json
    type: Literal["string", "number", "boolean", "json"]


Properties = Annotated[list[Property], Field(max_length=200)]


class IdentityChange(BaseModel):
    """What of an identity is to change. Agents, blocks and properties come to those there are."""

    identifier_key: Given | None = None
    name: Given | None = None
    identity_type: IdentityType | None = None
    agent_ids: Ids | None = None
    block_ids: Ids | None = None
    properties: Properties | None = None


class NewIdentity(BaseModel):
    """An identity to make, by a key that is the script's own."""

    identifier_key: Given
    name: Given
    identity_type: IdentityType
    agent_ids: Ids | None = None
    block_ids: Ids | None = None
    properties: Properties | None = None


class IdentityState(BaseModel):
    """Someone a script knows of."""

    id: str
    identifier_key: str
    name: str
    identity_type: IdentityType
    project_id: str | None = None
    agent_ids: list[str]
    block_ids: list[str]
    properties: list[Json]


# -- agents ----------------------------------------------------------------------------------------


class FirstMessage(BaseModel):
    """A message to begin with."""

    role: Literal["user", "system", "assistant"]
    content: str | list[Json]


class LlmConfig(BaseModel):
    """What is heeded of an older way to name a model."""

    handle: Short | None = None
    model: Short | None = None
    context_window: Window | None = None


class EmbeddingConfig(BaseModel):
    """What is heeded of an older way to name an embedding model."""

    handle: Short | None = None
    embedding_model: Short | None = None


class AgentSettings(BaseModel):
    """What both a new agent and a change may say."""

    name: Annotated[str, StringConstraints(max_length=100)] | None = None
    description: Annotated[str, StringConstraints(max_length=10_000)] | None = None
    system: Annotated[str, StringConstraints(max_length=100_000)] | None = None
    model: Short | None = None
    embedding: Short | None = None
    context_window_limit: Window | None = None
    tool_ids: Ids | None = None
    block_ids: Ids | None = None
    tool_rules: Annotated[list[Json], Field(max_length=200)] | None = None
    identity_ids: Ids | None = None
    tags: Tags | None = None
    metadata: Json | None = None
    llm_config: LlmConfig | None = None
    embedding_config: EmbeddingConfig | None = None


class NewAgent(AgentSettings):
    """An agent to make. Its tools are the base tools, unless `include_base_tools` is false, and
    those named by `tools` and `tool_ids`."""

    agent_type: Short | None = None
    memory_blocks: Annotated[list[NewBlock], Field(max_length=50)] | None = None
    tools: Ids | None = None
    include_base_tools: bool = True
    initial_message_sequence: Annotated[list[FirstMessage], Field(max_length=1000)] | None = None


class AgentChange(AgentSettings):
    """What of an agent is to change."""


class AgentState(BaseModel):
    """An agent, with its memory and tools."""

    id: str
    name: str
    description: str | None
    system: str
    agent_type: str
    model: str
    embedding: str | None
    llm_config: Json
    embedding_config: Json
    memory: CoreMemory
    blocks: list[BlockState]
    tools: list[ToolState]
    tool_rules: list[Json]
    tags: list[str]
    metadata: Json
    message_ids: list[str]
    sources: list[Json] = []
    identity_ids: list[str] = []
    identities: list[IdentityState] = []
    tool_exec_environment_variables: list[Json] = []
    secrets: list[Json] = []
    message_buffer_autoclear: bool = False
    context_window_limit: int | None
    timezone: str = "UTC"
    last_run_completion: datetime | None = None
    last_stop_reason: str | None = None
    created_by_id: str
    last_updated_by_id: str
    created_at: datetime
    updated_at: datetime


class ImportOptions(BaseModel):
    """How an agent file becomes agents. Where two fields mean the same, the second is older.

    Unless told otherwise a name gets `_copy` behind it, and a tool that is there already the
    file's source.
    """

    name: Annotated[str, StringConstraints(max_length=100)] | None = None
    override_name: Annotated[str, StringConstraints(max_length=100)] | None = None
    append_copy_suffix: bool = True
    override_existing_tools: bool = True
    strip_messages: bool = False
    model: Short | None = None
    override_model_handle: Short | None = None
    embedding: Short | None = None
    override_embedding_handle: Short | None = None
    secrets: Text | None = None
    env_vars_json: Text | None = None
    project_id: Short | None = None


# -- archival memory -------------------------------------------------------------------------------


class NewPassage(BaseModel):
    """A text to put away."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=100_000)]
    tags: Tags | None = None
    created_at: datetime | None = None


class PassageChange(BaseModel):
    """What of a passage is to change."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=100_000)] | None = None
    tags: Tags | None = None


class PassageState(BaseModel):
    """A piece of archival memory."""

    id: str
    text: str
    tags: list[str]
    embedding: list[float] | None = None
    embedding_config: Json | None = None
    metadata: Json = {}
    archive_id: str
    source_id: str | None = None
    file_id: str | None = None
    file_name: str | None = None
    is_deleted: bool = False
    created_by_id: str | None = None
    created_at: datetime
    updated_at: datetime


class FoundPassage(BaseModel):
    id: str
    content: str
    timestamp: datetime
    tags: list[str]


class FoundPassages(BaseModel):
    results: list[FoundPassage]
    count: int


# -- messages, runs, steps -------------------------------------------------------------------------


class Approving(BaseModel):
    """A person's word on one tool call."""

    tool_call_id: str | None = None
    approve: bool | None = None
    reason: str | None = None


class NewMessage(BaseModel):
    """A message, or, with `type` "approval", a word on tool calls that wait for one."""

    type: Literal["message", "approval", "tool_return"] | None = None
    role: Literal["user", "system", "assistant"] = "user"
    content: str | list[Json] | None = None
    otid: Short | None = None
    approve: bool | None = None
    approval_request_id: Short | None = None
    reason: Annotated[str, StringConstraints(max_length=10_000)] | None = None
    approvals: Annotated[list[Approving], Field(max_length=100)] | None = None


class Told(BaseModel):
    """How messages are shown."""

    use_assistant_message: bool = True
    assistant_message_tool_name: Short = "send_message"
    assistant_message_tool_kwarg: Short = "message"
    include_return_message_types: Many | None = None


class Request(Told):
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
    """A message as the SDKs know it; which fields it has depends on `message_type`."""

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
    """What a run said. `error` is a sentence where it failed after the answer had begun."""

    messages: list[MessageState]
    stop_reason: StopReason
    usage: Usage
    error: str | None = None


class MessageChange(BaseModel):
    """What a message of the past is to say."""

    content: str | list[Json] | None = None
    reasoning: str | None = None


class Cancelling(BaseModel):
    run_ids: Ids | None = None


class Resetting(BaseModel):
    add_default_initial_messages: bool = False


class MessageSearch(BaseModel):
    """What to look for in what was said; in all agents where none is named."""

    query: Annotated[str, StringConstraints(max_length=10_000)] = ""
    agent_id: Short | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 50
    start_date: datetime | None = None
    end_date: datetime | None = None


class RunState(BaseModel):
    """A message answered, in however many steps."""

    id: str
    agent_id: str
    status: Literal["created", "running", "completed", "failed", "cancelled"]
    stop_reason: str | None
    created_at: datetime
    completed_at: datetime | None
    background: bool | None = None
    total_duration_ns: int | None = None
    metadata: Json = {}
    job_type: Literal["run"] = "run"
    request_config: Json = {}
    user_id: str


class StepState(BaseModel):
    """A model call, with its tool calls."""

    id: str
    run_id: str
    agent_id: str
    status: Literal["pending", "success", "failed", "cancelled"]
    origin: str = "memoryweb"
    provider_name: str
    model: str
    model_endpoint: str | None
    context_window_limit: int
    prompt_tokens: int | None
    completion_tokens: int | None
    total_tokens: int | None
    stop_reason: str | None
    error_data: Json | None = None
    tags: list[str] = []
    messages: list[Json] = []


class StepMetrics(BaseModel):
    id: str
    run_id: str
    agent_id: str
    step_start_ns: int
    step_ns: int | None
    tool_execution_ns: int


class Trace(BaseModel):
    """The request of a step as it was sent, and what the model answered. `proven`: its SHA-256 is
    the one stored before it was sent."""

    id: str
    step_id: str
    request_json: Json
    response_json: Json
    request_sha256: str
    proven: bool
    created_at: datetime


class Following(BaseModel):
    """From where to follow a run: after the event `starting_after`."""

    starting_after: Annotated[int, Field(ge=0, le=2**62)] = 0
    include_pings: bool = True


# -- models ----------------------------------------------------------------------------------------


class ModelState(BaseModel):
    """A model that answers."""

    handle: str
    name: str
    display_name: str
    model: str
    model_type: Literal["llm"] = "llm"
    model_endpoint_type: Literal["openai"] = "openai"
    model_endpoint: str | None = None
    provider_type: Literal["openai"] = "openai"
    provider_name: str
    provider_category: str = "base"
    context_window: int
    max_context_window: int


class EmbeddingModelState(BaseModel):
    """A model that makes vectors."""

    handle: str
    name: str
    display_name: str
    model_type: Literal["embedding"] = "embedding"
    embedding_model: str
    embedding_endpoint_type: Literal["openai"] = "openai"
    embedding_endpoint: str | None = None
    embedding_dim: int
    provider_type: Literal["openai"] = "openai"
    provider_name: str
