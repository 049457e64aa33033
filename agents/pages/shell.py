"""The pages one looks at. Looking changes nothing."""

from __future__ import annotations

import sys
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views import defaults
from django.views.decorators.http import require_GET

from agents.live import fragments
from agents.models import Agent, Run
from agents.models.database_errors import RETRY_SECONDS, unavailable
from agents.models.event import snapshot

from . import panel
from .request import Request, own_agent

RUNS_A_PAGE = 20
MOST_RUNS = 200  # on a page that was asked for an old step


@login_required
@require_GET
def home(request: Request) -> HttpResponse:
    """The newest agent, or the way to make one."""
    agent = Agent.objects.visible_to(request.user).order_by("-updated_at").first()
    return redirect("agent", agent.pk) if agent else redirect("agent_new")


@login_required
@require_GET
def chat(request: Request, agent_id: UUID) -> HttpResponse:
    """An agent: conversation and memory, as of one event of its log.

    `?panel=<tab>` opens a tab of the panel; `?step=<id>` shows the transcript around a step;
    `?at=<n>` leads to the past, after the agent's n-th step.
    """
    if at := request.GET.get("at"):
        return redirect(f"{reverse('past_at', args=[agent_id])}?{urlencode({'at': at})}")
    with snapshot():
        agent = own_agent(request, agent_id)
        run = run_of_step(agent, request.GET.get("step", ""))
        context = chat_context(agent, run) | panel.opened(request, agent) | listed(request)
        response = render(request, "agents/chat.html", context)
    return response


def run_of_step(agent: Agent, asked: str) -> int | None:
    """The run of the step an address names, if the agent has such a step."""
    if not asked.isdecimal() or len(asked) > 18:
        return None
    return agent.runs.filter(steps=int(asked)).values_list("pk", flat=True).first()


def chat_context(agent: Agent, run: int | None = None) -> dict[str, Any]:
    """What the chat page is drawn from, with a run to be shown among the others."""
    return {
        "agent": agent,
        **transcript(agent, at=run),
        **fragments.memory_panel(agent),
        **fragments.page_status(agent),
        **fragments.waiting(agent),
    }


def transcript(agent: Agent, before: int | None = None, at: int | None = None) -> dict[str, Any]:
    """The newest runs, or those before one, and whether there are older.

    With `at`, all from that run to the newest; where they are too many, only a page around it, and
    in `newer` how many follow.
    """
    runs = Run.objects.shown().filter(agent=agent)
    if before is not None:
        runs = runs.filter(pk__lt=before)
    most, newer = RUNS_A_PAGE, 0
    if at is not None:
        since = list(runs.filter(pk__gte=at).prefetch_related(None).values_list("pk", flat=True))
        most = max(RUNS_A_PAGE, len(since) + RUNS_A_PAGE // 2)
        if most > MOST_RUNS:
            most, newer = RUNS_A_PAGE, len(since) - RUNS_A_PAGE // 2
            runs = runs.filter(pk__lt=since[RUNS_A_PAGE // 2])
    newest = list(runs.order_by("-pk")[: most + 1])
    return {"runs": newest[:most][::-1], "has_older": len(newest) > most, "newer": newer}


def listed(request: Request) -> dict[str, Any]:
    """The list of agents beside every page."""
    return {"agents": Agent.objects.visible_to(request.user).with_activity()}


def not_found(request: Request, exception: Exception) -> HttpResponse:
    """404, for what is not there and for what is somebody else's."""
    return render(request, "404.html", status=404)


def refused(request: Request, reason: str = "") -> HttpResponse:
    """403, for a POST that did not come from a page of this server."""
    return render(request, "403_csrf.html", {"reason": reason}, status=403)


def failed(request: Request) -> HttpResponse:
    """500; or 503, where the database does not work just now, whoever came upon that."""
    error = sys.exc_info()[1]
    words = unavailable(error) if error else ""
    if not words:
        return defaults.server_error(request)
    htmx = request.headers.get("HX-Request") == "true"
    template = "agents/_unavailable.html" if htmx else "503.html"
    response = HttpResponse(render_to_string(template, {"words": words}), status=503)
    response["Retry-After"] = str(RETRY_SECONDS)
    if htmx:  # beside what is on the page, so that what was typed there stays
        asking, target = request.headers.get("HX-Source"), request.headers.get("HX-Target")
        response["HX-Reswap"] = "afterend" if asking == target else "afterbegin"
    return response
