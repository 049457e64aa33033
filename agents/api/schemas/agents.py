"""Agents: created, changed, shown, and imported from a file."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from agents.api.notes import Parts, Refused, Unused

from .blocks import NO_TEMPLATES, BlockState, CoreMemory, NewBlock
from .fields import AgentId, Ids, Json, MaybeText, Moment, Short, State, Tags, Text, UserId
from .identities import IdentityState
from .model_settings import BY_EFFORT, LlmConfig, ModelSettings, OlderSettings, Window
from .tools import ToolState

AgentType = Literal[
    "memgpt_agent",
    "memgpt_v2_agent",
    "letta_v1_agent",
    "react_agent",
    "workflow_agent",
    "sleeptime_agent",
]


class FirstMessage(BaseModel):
    """A message that a new agent starts with."""

    role: Literal["user", "system", "assistant"]
    content: Annotated[str | list[Json], Parts]


class EmbeddingConfig(BaseModel):
    """What is used of an older way to name an embedding model."""

    handle: Short | None = None
    embedding_model: Short | None = None


NO_PROJECTS = "there are no projects here"
NO_FILES = "there are no folders, sources and files here; insert passages instead"
OF_THE_PAST = "it is what happened, which a request does not change"


Secrets = Annotated[dict[str, str], Field(max_length=50)]


class OfLetta(BaseModel):
    """What Letta's clients can send that has no effect here, or is refused."""

    model_config = ConfigDict(protected_namespaces=())

    template_id: Annotated[Any, Unused(NO_TEMPLATES)] = None
    base_template_id: Annotated[Any, Unused(NO_TEMPLATES)] = None
    project_id: Annotated[Any, Unused(NO_PROJECTS)] = None
    max_files_open: Annotated[Any, Unused("agents open no files")] = None
    per_file_view_window_char_limit: Annotated[Any, Unused("agents open no files")] = None
    source_ids: Annotated[Any, Refused(NO_FILES)] = None
    folder_ids: Annotated[Any, Refused(NO_FILES)] = None


class CompactionSettings(BaseModel):
    """How old messages are summarised when they leave the context."""

    model_config = ConfigDict(protected_namespaces=())

    model: Short | None = None
    prompt: Annotated[str, StringConstraints(max_length=20_000)] | None = None
    mode: Literal["all", "sliding_window"] | None = None
    clip_chars: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    sliding_window_percentage: Annotated[float, Field(ge=0.05, le=0.7)] | None = None
    prompt_acknowledgement: Annotated[Any, Unused("the prompt is sent as it is")] = None
    model_settings: Annotated[Any, Unused("a summary is asked for as the endpoint has it")] = None


class AgentSettings(OfLetta, OlderSettings):
    """What a new agent and a change can set."""

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
    message_buffer_autoclear: bool | None = None
    model_settings: ModelSettings | None = None
    compaction_settings: CompactionSettings | None = None
    timezone: Short | None = None
    hidden: bool | None = None
    enable_sleeptime: bool | None = None
    secrets: Secrets | None = None
    tool_exec_environment_variables: Secrets | None = None


class NewAgent(AgentSettings):
    """An agent to create.

    Its tools are those in `tools` and `tool_ids`, and those of its type unless `include_base_tools`
    is false. Types with base tools have rules for them, unless `include_base_tool_rules` is false.
    """

    agent_type: AgentType | None = None
    project: Annotated[Any, Unused(NO_PROJECTS)] = None
    template: Annotated[Any, Unused(NO_TEMPLATES)] = None
    from_template: Annotated[Any, Refused(NO_TEMPLATES)] = None
    memory_variables: Annotated[Any, Unused(NO_TEMPLATES)] = None
    embedding_chunk_size: Annotated[Any, Unused("a passage is embedded as a whole")] = None
    enable_reasoner: Annotated[Any, Unused(BY_EFFORT)] = None
    max_reasoning_tokens: Annotated[Any, Unused(BY_EFFORT)] = None
    include_default_source: Annotated[Any, Refused(NO_FILES)] = None
    include_multi_agent_tools: bool | None = None
    memory_blocks: Annotated[list[NewBlock], Field(max_length=50)] | None = None
    tools: Ids | None = None
    include_base_tools: bool = True
    include_base_tool_rules: bool | None = None
    initial_message_sequence: Annotated[list[FirstMessage], Field(max_length=1000)] | None = None


class AgentChange(AgentSettings):
    """What to change of an agent."""

    message_ids: Annotated[Any, Refused("which messages are in the context is not set here")] = None
    last_run_completion: Annotated[Any, Unused(OF_THE_PAST)] = None
    last_run_duration_ms: Annotated[Any, Unused(OF_THE_PAST)] = None
    last_stop_reason: Annotated[Any, Unused(OF_THE_PAST)] = None


class AgentState(State):
    """An agent, with its memory and tools; read from `AgentDetails`."""

    id: AgentId
    name: str
    description: MaybeText
    system: str = Field(validation_alias="system_prompt")
    agent_type: str
    model: str
    embedding: MaybeText
    llm_config: Json
    model_settings: Json
    response_format: Json | None = None
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
    context_window_limit: int | None = Field(validation_alias="context_window")
    compaction_settings: Json
    timezone: str = "UTC"
    hidden: bool = False
    enable_sleeptime: bool = False
    last_run_completion: Moment | None = None
    last_stop_reason: MaybeText = None
    pending_approval: Json | None = None
    created_by_id: UserId = Field(validation_alias="owner_id")
    last_updated_by_id: UserId = Field(validation_alias="owner_id")
    created_at: Moment
    updated_at: Moment


class ImportOptions(BaseModel):
    """How to import an agent file. Where two fields mean the same, the second is the older one.

    By default `_copy` is added to names, and existing tools get the file's source.
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
