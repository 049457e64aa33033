"""The application."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class AgentsConfig(AppConfig):
    """Agents and everything they remember."""

    name = "agents"
    verbose_name = gettext_lazy("Agents")

    def ready(self) -> None:
        from .wiring import connect

        connect(self)
