"""Every address of the application, and all that is stored, for tests that go through them."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.urls import URLPattern, reverse

from agents.models import Agent, Editor, Run
from agents.urls import urlpatterns


def ids_of(agent: Agent) -> dict[str, Any]:
    """One of everything that an agent's addresses name."""
    block = agent.core_memory()[-1]
    edit = block.append("Likes pie", by=Editor.person(agent.owner))
    assert edit is not None
    failed = Run.objects.create(agent=agent, key="failed", text="Hello", status=Run.Status.FAILED)
    Run.objects.create(agent=agent, key="queued", text="Still there?")
    return {"agent_id": agent.pk, "block_id": block.pk, "edit_id": edit.pk, "run_id": failed.pk}


def addresses(ids: dict[str, Any]) -> dict[str, str]:
    """Name → address, of all those that need no other ids than these."""
    found = {}
    for pattern in urlpatterns:
        assert isinstance(pattern, URLPattern)
        needed = pattern.pattern.converters
        if pattern.name and needed.keys() <= ids.keys():
            found[pattern.name] = reverse(pattern.name, kwargs={name: ids[name] for name in needed})
    return found


def of_agents(ids: dict[str, Any]) -> dict[str, str]:
    """The addresses below an agent."""
    return {n: address for n, address in addresses(ids).items() if str(ids["agent_id"]) in address}


def everything() -> dict[str, list[dict[str, Any]]]:
    """All rows there are, but for the sessions."""
    return {
        model._meta.label: list(model._base_manager.order_by("pk").values())
        for model in apps.get_models()
        if model._meta.label != "sessions.Session" and not model._meta.label.startswith("procr")
    }
