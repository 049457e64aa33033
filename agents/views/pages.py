"""The pages one looks at. Looking changes nothing."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET

from agents import fragments
from agents.models import Agent, Run
from agents.models.event import snapshot
from agents.views.request import Request

RUNS_A_PAGE = 20


@login_required
@require_GET
def home(request: Request) -> HttpResponse:
    """The newest agent, or the way to make one."""
    agent = Agent.objects.visible_to(request.user).order_by("-updated_at").first()
    return redirect("agent", agent.pk) if agent else redirect("agent_new")


@login_required
@require_GET
def chat(request: Request, agent_id: UUID) -> HttpResponse:
    """An agent: conversation and memory, as of one event of its log."""
    with snapshot():
        agent = get_object_or_404(Agent.objects.visible_to(request.user), pk=agent_id)
        response = render(request, "agents/chat.html", chat_context(agent) | listed(request))
    return response


def chat_context(agent: Agent) -> dict[str, Any]:
    """What the chat page is drawn from."""
    return {
        "agent": agent,
        **transcript(agent),
        **fragments.memory_panel(agent),
        **fragments.status_of(agent),
        **fragments.waiting(agent),
    }


def transcript(agent: Agent, before: int | None = None) -> dict[str, Any]:
    """The newest runs, or those before one, and whether there are older."""
    runs = Run.objects.shown().filter(agent=agent)
    if before is not None:
        runs = runs.filter(pk__lt=before)
    newest = list(runs.order_by("-pk")[: RUNS_A_PAGE + 1])
    return {"runs": newest[:RUNS_A_PAGE][::-1], "has_older": len(newest) > RUNS_A_PAGE}


def listed(request: Request) -> dict[str, Any]:
    """The list of agents beside every page."""
    return {"agents": Agent.objects.visible_to(request.user).with_activity()}


def not_found(request: Request, exception: Exception) -> HttpResponse:
    """404, for what is not there and for what is somebody else's."""
    return render(request, "404.html", status=404)


def refused(request: Request, reason: str = "") -> HttpResponse:
    """403, for a POST that did not come from a page of this server."""
    return render(request, "403_csrf.html", {"reason": reason}, status=403)
