"""Tools, and what a function tried out came to."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from .fields import Json, MaybeUserId, Moment, Short, State, Tags, ToolId


class NewTool(BaseModel):
    """A tool to make of its source. Name, description and schema are read off the source."""

    source_code: Annotated[str, StringConstraints(min_length=1, max_length=100_000)]
    source_type: str | None = None
    tags: Tags | None = None
    return_char_limit: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    default_requires_approval: bool | None = None


class ToolChange(BaseModel):
    """What of a tool is to change."""

    source_code: Annotated[str, StringConstraints(min_length=1, max_length=100_000)] | None = None
    tags: Tags | None = None
    return_char_limit: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    default_requires_approval: bool | None = None


class SourceToRun(BaseModel):
    """A function and what to call it with; it works on the memory of `agent_id`, or on none."""

    source_code: Annotated[str, StringConstraints(min_length=1, max_length=100_000)]
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
    """A tool: a user's own (`custom`), or one that comes with memoryweb."""

    id: ToolId
    name: str
    tool_type: Literal["custom", "letta_core", "letta_memory_core"] = "custom"
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
