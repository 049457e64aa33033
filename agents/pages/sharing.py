"""Agents shared with other people, where there are other people (MEMORYWEB_ACCOUNTS)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from agents.models import Agent, AgentShare, Role
from agents.models.role import SHARED_ROLES
from agents.permissions import check_agent

from .forms.share import AgentShareForm
from .request import Request, find_agent


@login_required
def index(request: Request, agent_id: UUID) -> HttpResponse:
    """Who may see the agent, and in which role; its owner shares it here.

    POST: `name` of a person or a group, `role`. Again with the same name, it changes the role.
    """
    agent = shareable(request, agent_id)
    form = AgentShareForm(agent, request.POST or None)
    if request.method == "POST":
        check_agent(agent, agent.role, Role.OWNER)
        if form.is_valid():
            form.share()
            return redirect("agent_sharing", agent.pk)
    status = 422 if form.errors else 200
    context = sharing_context(request, agent, form)
    return render(request, "agents/sharing.html", context, status=status)


def sharing_context(request: Request, agent: Agent, form: AgentShareForm) -> dict[str, Any]:
    """What the page is drawn from; others than the owner see only how it is shared with them."""
    shares = agent.shares.select_related("user", "group")
    is_own = agent.role == Role.OWNER
    return {
        "agent": agent,
        "form": form,
        "is_own": is_own,
        "shares": shares if is_own else [],
        "roles": [(str(value), label) for value, label in SHARED_ROLES],
        "mine": None if is_own else shares.filter(user=request.user).first(),
    }


@login_required
@require_POST
def stop(request: Request, agent_id: UUID, share_id: int) -> HttpResponse:
    """Stop sharing the agent with somebody."""
    agent = shareable(request, agent_id)
    get_object_or_404(AgentShare, pk=share_id, agent=agent).stop()
    return redirect("agent_sharing", agent.pk)


@login_required
@require_POST
def leave(request: Request, agent_id: UUID) -> HttpResponse:
    """Give back an agent that was shared with the person."""
    agent = shareable(request, agent_id)
    get_object_or_404(AgentShare, agent=agent, user=request.user).stop()
    return redirect("home")


def shareable(request: Request, agent_id: UUID) -> Agent:
    if not settings.ACCOUNTS:
        raise Http404
    return find_agent(request, agent_id)
