"""What every page knows."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from agents.llm import default_endpoint
from agents.models import Agent


def app(request: HttpRequest) -> dict[str, Any]:
    """`agents` is the list beside every page: read where a page shows it, and nowhere else."""
    return {
        "accounts": settings.ACCOUNTS,
        "signup_is_open": SimpleLazyObject(lambda: get_adapter().is_open_for_signup(request)),
        "demo": default_endpoint().is_demo,
        "viewer": request.user if hasattr(request, "user") else None,
        "agents": SimpleLazyObject(lambda: sidebar(request)),
    }


def sidebar(request: HttpRequest) -> QuerySet[Agent]:
    agents = Agent.objects.visible_to(request.user).select_related("owner")
    return agents.listed().with_activity()
