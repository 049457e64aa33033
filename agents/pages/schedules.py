"""An agent's scheduled messages: listed, added and stopped."""

from __future__ import annotations

from uuid import UUID
from zoneinfo import ZoneInfo

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from agents.models import Agent, LimitReached

from .forms.schedule import ScheduleForm
from .request import Request, find_agent

LISTED = 500


@login_required
def index(request: Request, agent_id: UUID) -> HttpResponse:
    """An agent's scheduled messages. POST: `message` and `at` or `cron` add one."""
    agent = find_agent(request, agent_id)
    form = ScheduleForm(request.POST or None)
    status = 200
    if request.method == "POST":
        status = add(agent, form)
        if status == 200:
            return redirect("schedules", agent.pk)
    rows = agent.schedules.select_related("last_run").prefetch_related("last_run__steps")
    schedules = rows.order_by("-created_at")[:LISTED]
    context = {"agent": agent, "schedules": schedules, "form": form}
    name = "_schedules" if request.htmx else "schedules"
    return render(request, f"agents/{name}.html", context, status=status)


def add(agent: Agent, form: ScheduleForm) -> int:
    """Add a scheduled message; the status of the answer, with errors in the form."""
    with timezone.override(ZoneInfo(agent.timezone)):  # in which `at` was typed
        if not form.is_valid():
            return 422
    try:
        form.create(agent)
    except ValidationError as error:
        form.add_error(None, error)
        return 422
    except LimitReached as limit:
        form.add_error(None, str(limit))
        return 429
    return 200


@login_required
@require_POST
def stop(request: Request, agent_id: UUID, schedule_id: UUID) -> HttpResponse:
    """Send a scheduled message no more."""
    agent = find_agent(request, agent_id)
    get_object_or_404(agent.schedules.all(), pk=schedule_id).stop()
    return redirect("schedules", agent.pk)
