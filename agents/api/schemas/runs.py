"""Runs and steps, and how they are followed."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from .fields import Json


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


class Retrying(BaseModel):
    """How to go on with a run that failed."""

    way: Literal["retry", "leave_out", "make_room"] = "retry"


class Following(BaseModel):
    """From where to follow a run: after the event `starting_after`."""

    starting_after: Annotated[int, Field(ge=0, le=2**62)] = 0
    include_pings: bool = True
