"""Runs and steps, and how they are followed."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from ninja import Schema
from pydantic import AliasPath, BaseModel, Field

from agents.models import Approval, Run, Step
from agents.models.run import REQUIRES_APPROVAL

from .fields import AgentId, ConversationId, Json, MaybeText, Moment, RunId, StepId, Tags, UserId

RUN_STATUSES = {
    Run.Status.QUEUED: "created",
    Run.Status.RUNNING: "running",
    Run.Status.WAITING: "completed",  # for now, with the stop reason "requires_approval"
    Run.Status.DONE: "completed",
    Run.Status.STOPPED: "cancelled",
    Run.Status.FAILED: "failed",
}
STEP_STATUSES = {
    Step.Status.STREAMING: "pending",
    Step.Status.CALLING: "pending",
    Step.Status.DONE: "success",
    Step.Status.FAILED: "failed",
    Step.Status.STOPPED: "cancelled",
}
ENDED = ("NO_HEARTBEAT", "GIVEN", "COMPACTED", "NO_ROOM", "FORKED")  # well, in Letta's one word
WORDS = {Run.Reason[name]: "end_turn" for name in ENDED}


def stop_reason(run: Run) -> str | None:
    """Why a run ended, in the SDKs' terms; None while it has not ended."""
    return stop_word(REQUIRES_APPROVAL if run.status == Run.Status.WAITING else run.reason)


def stop_word(reason: str) -> str | None:
    """A reason in the SDKs' terms."""
    return WORDS.get(reason, reason) or None  # type: ignore[call-overload]


def reasons_of(word: str) -> list[str]:
    """The reasons that the SDKs have one word for."""
    return [word, *(reason.value for reason, each in WORDS.items() if each == word)]


def nanoseconds(seconds: float | None) -> int | None:
    return None if seconds is None else int(seconds * 1e9)


class RunState(Schema):
    """A message answered, in as many steps as it took."""

    id: RunId = Field(validation_alias="pk")
    agent_id: AgentId
    conversation_id: ConversationId
    status: Literal["created", "running", "completed", "failed", "cancelled"]
    stop_reason: str | None
    created_at: Moment
    completed_at: Moment | None
    background: bool = False
    total_duration_ns: int | None = None
    metadata: Json = {}
    job_type: Literal["run"] = "run"
    request_config: Json = {}
    callback_url: MaybeText = None
    callback_sent_at: Moment | None = None
    callback_status_code: int | None = None
    callback_error: MaybeText = None
    user_id: UserId = Field(validation_alias=AliasPath("agent", "owner_id"))

    @staticmethod
    def resolve_status(run: Run) -> str:
        return RUN_STATUSES[Run.Status(run.status)]

    @staticmethod
    def resolve_stop_reason(run: Run) -> str | None:
        return stop_reason(run)

    @staticmethod
    def resolve_completed_at(run: Run) -> datetime | None:
        """When it ended, or began to wait: until it is answered it counts as completed."""
        if run.status != Run.Status.WAITING:
            return run.finished_at
        pending = Approval.objects.pending().filter(step__run=run.pk)
        newest = pending.order_by("-created_at").first()
        return newest.created_at if newest else None

    @staticmethod
    def resolve_total_duration_ns(run: Run) -> int | None:
        ended, began = run.finished_at, run.started_at or run.created_at
        return nanoseconds((ended - began).total_seconds()) if ended else None

    @staticmethod
    def resolve_metadata(run: Run) -> Json:
        return {"error": run.error} if run.error else {}


Verdict = Literal["positive", "negative"]


class StepState(Schema):
    """A model call, with its tool calls."""

    id: StepId = Field(validation_alias="pk")
    run_id: RunId
    agent_id: AgentId = Field(validation_alias=AliasPath("run", "agent_id"))
    status: Literal["pending", "success", "failed", "cancelled"]
    origin: str = "memoryweb"
    provider_name: str
    model: str
    model_endpoint: str | None
    context_window_limit: int = Field(validation_alias="window")
    prompt_tokens: int | None
    completion_tokens: int | None
    total_tokens: int | None
    stop_reason: str | None
    error_data: Json | None = None
    feedback: Verdict | None = Field(None, validation_alias="verdict")
    tags: list[str] = []
    messages: list[Json] = []

    @staticmethod
    def resolve_tags(step: Step) -> list[str]:
        return list(step.feedback.get("tags", []))

    @staticmethod
    def resolve_status(step: Step) -> str:
        return STEP_STATUSES[Step.Status(step.status)]

    @staticmethod
    def resolve_provider_name(step: Step) -> str:
        return "openai" if "://" in step.endpoint else "memoryweb"

    @staticmethod
    def resolve_model_endpoint(step: Step) -> str | None:
        return step.endpoint if "://" in step.endpoint else None

    @staticmethod
    def resolve_total_tokens(step: Step) -> int | None:
        known = step.prompt_tokens is not None and step.completion_tokens is not None
        return (step.prompt_tokens or 0) + (step.completion_tokens or 0) if known else None

    @staticmethod
    def resolve_stop_reason(step: Step) -> str | None:
        return stop_reason(step.run)

    @staticmethod
    def resolve_error_data(step: Step) -> Json | None:
        return {"message": step.error} if step.error else None

    @staticmethod
    def resolve_messages(step: Step) -> list[Json]:
        return []  # GET /v1/steps/{step_id}/messages has them


class Feedback(BaseModel):
    """What a person thinks of a step."""

    feedback: Verdict | None = None
    tags: Tags | None = None


class StepMetrics(Schema):
    """How long a step took."""

    id: StepId = Field(validation_alias="pk")
    run_id: RunId
    agent_id: AgentId = Field(validation_alias=AliasPath("run", "agent_id"))
    step_start_ns: int
    step_ns: int | None
    tool_execution_ns: int

    @staticmethod
    def resolve_step_start_ns(step: Step) -> int | None:
        return nanoseconds(step.started_at.timestamp())

    @staticmethod
    def resolve_step_ns(step: Step) -> int | None:
        return nanoseconds(step.seconds)

    @staticmethod
    def resolve_tool_execution_ns(step: Step) -> int:
        return sum(row.duration_ms or 0 for row in step.message_list) * 1_000_000


class Trace(BaseModel):
    """The request of a step as it was sent, and what the model answered.

    `proven`: its SHA-256 is the one that was stored before it was sent.
    """

    id: str
    step_id: str
    request_json: Json
    response_json: Json
    request_sha256: str
    proven: bool
    created_at: Moment


class RetryRun(BaseModel):
    """How to continue a run that failed."""

    way: Literal["retry", "leave_out", "make_room"] = "retry"


class FollowRun(BaseModel):
    """Where to continue the stream of a run: after the event `starting_after`."""

    starting_after: Annotated[int, Field(ge=0, le=2**62)] = 0
    include_pings: bool = True
