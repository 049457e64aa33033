"""What every page knows."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from agents.llm import default_endpoint
from agents.models import Announcement
from agents.models.agent_list import AgentList, list_agents


def app(request: HttpRequest) -> dict[str, Any]:
    """`agents` is the list beside every page: read where a page shows it, and nowhere else."""
    return {
        "accounts": settings.ACCOUNTS,
        "command": settings.COMMAND,
        "signup_is_open": SimpleLazyObject(lambda: get_adapter().is_open_for_signup(request)),
        "demo": SimpleLazyObject(lambda: default_endpoint().is_demo),
        "viewer": request.user if hasattr(request, "user") else None,
        "agents": SimpleLazyObject(lambda: sidebar(request)),
        "announcements": SimpleLazyObject(lambda: announcements(request)),
    }


def announcements(request: HttpRequest) -> list[Announcement]:
    """What is announced and the person has not hidden, which their browser keeps in a cookie."""
    if not (hasattr(request, "user") and request.user.is_authenticated):
        return []
    hidden = request.COOKIES.get("hidden_announcements", "").split("_")
    return [each for each in Announcement.objects.all().shown() if each.key not in hidden]


def sidebar(request: HttpRequest) -> AgentList:
    match = request.resolver_match
    return list_agents(request.user, match.kwargs.get("agent_id") if match else None)
