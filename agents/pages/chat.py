"""The chat page: an agent's conversation with its memory beside it. Looking changes nothing."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from agents.live import fragments
from agents.models import Agent, Run
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
        context = chat_context(agent, run) | panel.panel_context(request, agent)
        response = render(request, "agents/chat.html", context)
    return response


def run_of_step(agent: Agent, step_id: str) -> int | None:
    """The run of the step an address names, if the agent has such a step."""
    if not step_id.isdecimal() or len(step_id) > 18:
        return None
    return agent.runs.filter(steps=int(step_id)).values_list("pk", flat=True).first()


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
