"""Tools, and functions that are run once."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from .fields import Json, MaybeUserId, Moment, Short, State, Tags, ToolId

Source = Annotated[str, StringConstraints(min_length=1, max_length=100_000)]


ToolType = Literal[
    "custom",
    "letta_core",
    "letta_memory_core",
    "letta_sleeptime_core",
    "letta_voice_sleeptime_core",
    "letta_multi_agent_core",
    "letta_builtin",
    "letta_files_core",
]


class ToolSettings(BaseModel):
    """What a new tool and a change can set."""

    tags: Tags | None = None
    return_char_limit: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    default_requires_approval: bool | None = None


class NewTool(ToolSettings):
    """A tool to create. Name, description and schema are read from the source."""

    source_code: Source
    source_type: str | None = None


class ToolChange(ToolSettings):
    """What to change of a tool."""

    source_code: Source | None = None


class SourceToRun(BaseModel):
    """A function and its arguments; it works on the memory of `agent_id`, or on none."""

    source_code: Source
    args: Json = {}
    name: Short | None = None
    agent_id: Short | None = None


class RunResult(BaseModel):
    """What a function returned. Nothing that it changed was kept."""

    id: str
    date: Moment
    message_type: Literal["tool_return_message"] = "tool_return_message"
    tool_call_id: str
    tool_return: str
    status: Literal["success", "error"]
    stdout: list[str]
    stderr: list[str]


class ToolState(State):
    """A tool: a user's own (`custom`), or one that comes with memoryweb.

    `metadata_.not_set_up` says why a tool of Letta's does not work on this server.
    """

    id: ToolId
    name: str
    tool_type: ToolType = "custom"
    description: str
    source_type: str = "python"
    source_code: str | None = Field(None, validation_alias="source")
    json_schema: Json
    args_json_schema: Json = {}
    tags: list[str] = []
    return_char_limit: int
    default_requires_approval: bool | None = None
    created_by_id: MaybeUserId = Field(None, validation_alias="owner_id")
    last_updated_by_id: MaybeUserId = Field(None, validation_alias="owner_id")
    metadata_: Json = {}
