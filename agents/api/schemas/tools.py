"""Tools, and functions that are run once."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, Field, StringConstraints

from agents.api.notes import Refused, Unused

from .fields import Json, MaybeUserId, State, Tags, ToolId

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


NO_PACKAGES = Refused("the sandbox that tools run in has no packages; write the tool without them")


class InPython(BaseModel):
    """A source, and what a script may say of it: the schema of the function or of its arguments.

    Only Python without packages can run here: another `source_type`, and requirements, are refused.
    """

    source_type: str | None = None
    json_schema: Json | None = None
    args_json_schema: Json | None = None
    pip_requirements: Annotated[list[Any] | None, NO_PACKAGES] = None
    npm_requirements: Annotated[list[Any] | None, NO_PACKAGES] = None


class ToolSettings(InPython):
    """What a new tool and a change can set."""

    description: Annotated[str, StringConstraints(max_length=20_000)] | None = None
    tags: Tags | None = None
    return_char_limit: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    default_requires_approval: bool | None = None
    metadata_: Json | None = None
    enable_parallel_execution: Annotated[
        bool | None, Unused("the calls of a message are made one after another")
    ] = None


class NewTool(ToolSettings):
    """A tool to create. What is not sent of description and schema is read from the source."""

    source_code: Source


class ToolChange(ToolSettings):
    """What to change of a tool."""

    source_code: Source | None = None


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
    args_json_schema: Json = Field({}, validation_alias="given_schema")
    tags: list[str] = []
    return_char_limit: int
    default_requires_approval: bool | None = None
    created_by_id: MaybeUserId = Field(None, validation_alias="owner_id")
    last_updated_by_id: MaybeUserId = Field(None, validation_alias="owner_id")
    metadata_: Json = Field({}, validation_alias=AliasChoices("metadata", "metadata_"))
