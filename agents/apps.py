"""The application: agents and everything they remember."""

from django.apps import AppConfig


class AgentsConfig(AppConfig):
    name = "agents"
