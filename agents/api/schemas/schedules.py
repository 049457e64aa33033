"""Scheduled messages."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints

from agents.api.notes import Unused
from agents.models.schedule import LONGEST_CRON, MOST_MESSAGES, Schedule

from .. import ids
from .fields import AgentId, Json, Many, Moment, RunId, Short
from .messages import BY_TOKEN, CallbackUrl, Content

LAST_SECOND = datetime(9999, 12, 31, tzinfo=UTC).timestamp()
ONCE = Unused("a schedule sends its messages once at each of its times")


class ScheduledMessage(BaseModel):
    """A message that is sent later."""

    role: Literal["user", "assistant", "system"]
    content: Content
    type: Literal["message"] = "message"
    otid: Annotated[Any, ONCE] = None
    name: Annotated[Any, Unused(BY_TOKEN)] = None
    sender_id: Annotated[Any, Unused(BY_TOKEN)] = None


class Once(BaseModel):
    """At one time, in milliseconds since 1970."""

    type: Literal["one-time"] = "one-time"
    scheduled_at: Annotated[float, Field(ge=0, le=LAST_SECOND * 1000)]

    @property
    def moment(self) -> datetime:
        return datetime.fromtimestamp(self.scheduled_at / 1000, UTC)


class Recurring(BaseModel):
    """Again and again: a cron expression of five fields, in the agent's time zone."""

    type: Literal["recurring"]
    cron_expression: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_CRON)]


class NewSchedule(BaseModel):
    """Messages, and when they are sent."""

    messages: Annotated[list[ScheduledMessage], Field(min_length=1, max_length=MOST_MESSAGES)]
    schedule: Once | Recurring
    callback_url: CallbackUrl = None
    include_return_message_types: Many | None = None
    max_steps: Annotated[int, Field(ge=1, le=1000)] | None = None


class Scheduled(BaseModel):
    """A schedule that was made."""

    id: str
    next_scheduled_at: Moment | None


class KeptMessage(BaseModel):
    """A message of a schedule."""

    role: Literal["user", "assistant", "system"]
    content: str
    type: Literal["message"] = "message"


class KeptMessages(BaseModel):
    """The messages of a schedule, and how their runs go."""

    messages: list[KeptMessage]
    callback_url: str | None
    include_return_message_types: list[str] | None
    max_steps: int | None


class ScheduleState(BaseModel):
    """A schedule. `error` says why its messages were not sent last time."""

    id: str
    agent_id: AgentId
    message: KeptMessages
    next_scheduled_time: Moment | None
    schedule: Once | Recurring
    last_run_id: RunId | None = None
    error: str | None = None


class Schedules(BaseModel):
    """A page of schedules."""

    has_next_page: bool
    scheduled_messages: list[ScheduleState]


class Deleted(BaseModel):
    """Says that it was deleted."""

    success: Literal[True] = True


def state(row: Schedule) -> ScheduleState:
    """A schedule as the SDK expects it."""
    config: Json = row.request_config
    when: Once | Recurring = Recurring(type="recurring", cron_expression=row.cron or "-")
    if row.scheduled_at is not None:
        when = Once(scheduled_at=row.scheduled_at.timestamp() * 1000)
    return ScheduleState(
        id=ids.named("schedule", row.pk),
        agent_id=row.agent_id,  # type: ignore[arg-type]
        message=KeptMessages(
            messages=[KeptMessage(**each) for each in row.messages],
            callback_url=row.callback_url or None,
            include_return_message_types=config.get("include_return_message_types"),
            max_steps=row.most_steps,
        ),
        next_scheduled_time=row.next_at,
        schedule=when,
        last_run_id=row.last_run_id,  # type: ignore[arg-type]
        error=row.error or None,
    )


class SchedulePage(BaseModel):
    """Which part of a list to return."""

    limit: Annotated[int, Field(ge=1, le=100)] = 50
    after: Short | None = None
