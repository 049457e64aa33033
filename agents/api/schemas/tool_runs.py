"""Functions and tools that are run once, and tools that are searched for."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from agents.api.notes import Refused

from .agents import AgentState
from .fields import Json, Moment, Short, Tags, Text
from .tools import InPython, Source, ToolState


class SourceToRun(InPython):
    """A function and its arguments; it works on the memory of `agent_id`, or on none."""

    source_code: Source
    args: Json = {}
    name: Short | None = None
    agent_id: Short | None = None
    env_vars: Annotated[
        dict[str, str] | None,
        Refused("code in the sandbox has no environment; pass the values as arguments"),
    ] = None


class ToolArguments(BaseModel):
    """What to call an agent's tool with."""

    args: Json = {}


class ExecutionResult(BaseModel):
    """What a call of an agent's tool came to, and the agent as it is after it."""

    status: Literal["success", "error"]
    func_return: str
    agent_state: AgentState
    stdout: list[str]
    stderr: list[str]
    sandbox_config_fingerprint: str | None = None


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


class ToolSearch(BaseModel):
    """Which tools to find; without `query` all that the filters let through."""

    query: Text | None = None
    search_mode: Literal["vector", "fts", "hybrid"] = "hybrid"
    tool_types: list[Short] | None = None
    tags: Tags | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 50


class FoundTool(BaseModel):
    """A tool that was searched for, and its place."""

    tool: ToolState
    embedded_text: str | None
    fts_rank: int | None
    vector_rank: int | None
    combined_score: float
