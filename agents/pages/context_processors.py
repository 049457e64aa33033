"""What every page knows."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest

from agents.llm import default_endpoint


def app(request: HttpRequest) -> dict[str, Any]:
    return {"accounts": settings.ACCOUNTS, "demo": default_endpoint().is_demo}
