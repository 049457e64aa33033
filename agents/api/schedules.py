"""Scheduled messages: sent to an agent at a time, once or again and again."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.http import HttpRequest
from ninja import Query

from agents.models import Schedule

from . import ids, lookups
from .auth import CHAT, READ
from .content import checked_text, text_of
from .cursors import Page, page_of
from .errors import invalid
from .json_router import JsonRouter
from .schemas.messages import MessageOptions, shown_options
from .schemas.schedules import (
    Deleted,
    NewSchedule,
    Once,
    Scheduled,
    SchedulePage,
    Schedules,
    ScheduleState,
    state,
)

router = JsonRouter(tags=["scheduled messages"])
ALL = "/agents/{agent_id}/schedule"
ONE = f"{ALL}/{{scheduled_message_id}}"


@router.get(ALL, auth=READ, response=Schedules, operation_id="list_schedules")
def index(request: HttpRequest, agent_id: str, filters: Query[SchedulePage]) -> Schedules:
    """The scheduled messages of an agent, the newest first; also the last that are over."""
    rows = lookups.agent(request, agent_id).schedules.all()
    one_more = Page.model_construct(limit=filters.limit + 1, after=filters.after)
    found = page_of(rows, one_more, lambda text: ids.uuid_of("schedule", text))
    return Schedules(
        has_next_page=len(found) > filters.limit,
        scheduled_messages=[state(row) for row in found[: filters.limit]],
    )


@router.post(ALL, auth=CHAT, response=Scheduled, operation_id="create_schedule")
def create(request: HttpRequest, agent_id: str, data: NewSchedule) -> Scheduled:
    """Have messages sent to an agent's first conversation at a time, or again and again."""
    agent = lookups.agent(request, agent_id)
    messages = [(each.role, checked_text(text_of(each.content))) for each in data.messages]
    options = MessageOptions(include_return_message_types=data.include_return_message_types)
    rule = data.schedule
    try:
        row = Schedule.create(
            agent,
            messages,
            at=rule.moment if isinstance(rule, Once) else None,
            cron="" if isinstance(rule, Once) else rule.cron_expression,
            most_steps=data.max_steps,
            callback_url=data.callback_url or "",
            request_config=shown_options(options),
        )
    except ValidationError as error:
        raise invalid("schedule", error.messages[0]) from None
    return Scheduled(id=ids.named("schedule", row.pk), next_scheduled_at=row.next_at)


@router.get(ONE, auth=READ, response=ScheduleState, operation_id="retrieve_schedule")
def retrieve(request: HttpRequest, agent_id: str, scheduled_message_id: str) -> ScheduleState:
    """A scheduled message, and when it is sent next."""
    return state(lookups.schedule(request, agent_id, scheduled_message_id))


@router.delete(ONE, auth=CHAT, response=Deleted, operation_id="delete_schedule")
def delete(request: HttpRequest, agent_id: str, scheduled_message_id: str) -> Deleted:
    """Stop a scheduled message; the runs that it began go on."""
    lookups.schedule(request, agent_id, scheduled_message_id).stop()
    return Deleted()
