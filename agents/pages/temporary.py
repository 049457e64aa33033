"""Temporary chats: begun beside an agent's conversations, and closed."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST

from agents.models import LimitReached

from .conversations import go_to
from .request import Request, find_agent


@login_required
@require_POST
def new(request: Request, agent_id: UUID) -> HttpResponse:
    """Begin a temporary chat with an agent."""
    agent = find_agent(request, agent_id)
    try:
        chat = agent.begin_temporary(request.user)
    except LimitReached as limit:
        return render(request, "agents/_refusal.html", {"error": str(limit)}, status=429)
    return go_to(request, reverse("agent", args=[chat.pk]))


@login_required
@require_POST
def close(request: Request, agent_id: UUID) -> HttpResponse:
    """Close a temporary chat, of which nothing is kept."""
    chat = find_agent(request, agent_id)
    if not chat.is_temporary:
        raise Http404
    chat.close_temporary()
    return go_to(request, reverse("agent", args=[chat.lasting_id]))
