"""What somebody has used of models, as tests of quotas have it."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.models import User
from django.utils import timezone

from agents.models import Usage


def use(user: User, tokens: int, cost: int = 0, day: datetime | None = None) -> None:
    """Somebody has used so much today, or on another day."""
    spent = Usage(endpoint="openai", model="m", kind="message", prompt_tokens=tokens, cost=cost)
    Usage.add(user.pk, spent)
    if day:
        Usage.objects.filter(user=user, day=timezone.now().date()).update(day=day.date())
