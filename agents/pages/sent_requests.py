"""The exact request of a step, and beside it what would be sent now."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from agents.ledger import time_travel
from agents.ledger.request_diff import compare
from agents.llm.images import readable
from agents.memory import sent_requests
from agents.models import Agent, Step
from agents.models.event import snapshot

from .context import context_now
from .request import Request, find_agent


@login_required
@require_GET
def show(request: Request, agent_id: UUID, step_id: int) -> HttpResponse:
    """A step's request by sections, proven or not, compared with what would be sent now."""
    with snapshot():
        agent, step = find_step(request, agent_id, step_id)
        context = {
            "agent": agent,
            "step": step,
            "number": time_travel.number_of(step),
            **comparison(step),
        }
        return render(request, "agents/requests/show.html", context)


def comparison(step: Step) -> dict[str, Any]:
    """The request and its differences; nothing where it was not kept."""
    sent = sent_requests.sent(step)
    if sent is None:
        return {"sent": None}
    now, model, _ = context_now(step.run.conversation)
    outlines = readable(sent.outline), readable(now.outline(model))
    groups = compare(outlines[0], sent.context.history, outlines[1], now.history)
    return {
        "sent": sent,
        "size": len(sent.body),
        "groups": groups,
        "differing": sum(group.differing for group in groups),
    }


@login_required
@require_GET
def raw(request: Request, agent_id: UUID, step_id: int) -> HttpResponse:
    """The body of a step's request, byte for byte."""
    with snapshot():
        _, step = find_step(request, agent_id, step_id)
        sent = sent_requests.sent(step)
    if sent is None:
        raise Http404
    name = f"request-{step.pk}.json" if sent.proven else f"request-{step.pk}-not-proven.json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(sent.body, content_type="application/json", headers=headers)


def find_step(request: Request, agent_id: UUID, step_id: int) -> tuple[Agent, Step]:
    agent = find_agent(request, agent_id)
    steps = time_travel.steps_of(agent).select_related("run__agent", "run__conversation__agent")
    return agent, get_object_or_404(steps, pk=step_id)
