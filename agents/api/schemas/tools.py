"""Tools, and what a function tried out came to."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from .fields import Json, Short, Tags


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
