"""Every address of the application, and all that is stored, for tests that go through them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from django.apps import apps
from django.urls import get_resolver, reverse
from django.utils import timezone

from agents.attached_files.taking import take
from agents.models import (
    Agent,
    Approval,
    Compaction,
    Conversation,
    Editor,
    HistoryImport,
    Image,
    Passage,
    Run,
    Step,
)
from tests.support.pictures import picture
from tests.support.stored import of


def ids_of(agent: Agent) -> dict[str, Any]:
    """One of everything that an agent's addresses name."""
    block = agent.core_memory()[-1]
    edit = block.append("Likes pie", by=Editor.person(agent.owner))
    assert edit is not None
    failed = Run.objects.create(**of(agent), key="failed", text="Hello", status=Run.Status.FAILED)
    Run.objects.create(**of(agent), key="queued", text="Still there?")
    step = Step.objects.create(run=failed, number=1, model="m", endpoint="e", status="failed")
    sizes = {"first": 1, "last": 2, "tokens_before": 9, "tokens_after": 3}
    made = Compaction.objects.create(
        conversation_id=agent.pk, run=failed, written_by="model", **sizes
    )
    asked = Approval.objects.create(step=step, tool_call_id="c", why="w", expires_at=timezone.now())
    passage = Passage.insert(agent, "Likes pie", by=Editor.person(agent.owner))
    return {
        "agent_id": agent.pk,
        "conversation_id": Conversation.create(agent).pk,
        "block_id": block.pk,
        "edit_id": edit.pk,
        "run_id": failed.pk,
        "step_id": step.pk,
        "compaction_id": made.pk,
        "approval_id": asked.pk,
        "passage_id": passage.pk,
        "import_id": HistoryImport.begin(agent, agent.owner, "export.zip", 9).pk,
        "file_id": take(agent, agent.owner, "pie.txt", b"Cherry pie")[0].pk,
        "sha256": Image.add(agent, picture()).sha256,
        "number": 1,
        "version": 0,
        "name": "history",
    }


def ids_of_nothing() -> dict[str, Any]:
    """Ids that name nothing, but where they are no key."""
    rows = ("block_id", "edit_id", "run_id", "step_id", "compaction_id", "approval_id")
    nothing: dict[str, Any] = dict.fromkeys([*rows, "passage_id", "import_id", "file_id"], 999_999)
    return nothing | {
        "agent_id": uuid4(),
        "conversation_id": uuid4(),
        "block_id": uuid4(),
        "sha256": "f" * 64,
        "number": 1,
        "version": 0,
        "name": "history",
    }


def named(urls: str = "agents.urls") -> Iterator[tuple[str, set[str]]]:
    """Each address's name and the names of the ids in it, however deep it is included."""
    leading: Any = get_resolver(urls).reverse_dict
    for name, (((_, ids), *_), *_) in leading.items():
        if isinstance(name, str):  # else it is a view
            yield name, set(ids)


def addresses(ids: dict[str, Any]) -> dict[str, str]:
    """Name → address, of all those that need no other ids than these."""
    return {
        name: reverse(name, kwargs={each: ids[each] for each in needed})
        for name, needed in named()
        if needed <= ids.keys()
    }


def naming_rows() -> set[str]:
    """The names of addresses that name a row besides an agent."""
    return {
        name
        for name, needed in named()
        if any(each.endswith("_id") for each in needed - {"agent_id"})
    }


def of_agents(ids: dict[str, Any]) -> dict[str, str]:
    """The addresses below an agent."""
    return {n: address for n, address in addresses(ids).items() if str(ids["agent_id"]) in address}


def everything_but_audit() -> dict[str, list[dict[str, Any]]]:
    """All rows there are, but for the sessions and what the audit says of who exported what."""
    return {name: rows for name, rows in everything().items() if name != "agents.AuditEntry"}


def everything() -> dict[str, list[dict[str, Any]]]:
    """All rows there are, but for the sessions."""
    return {
        model._meta.label: list(model._base_manager.order_by("pk").values())
        for model in apps.get_models()
        if model._meta.label != "sessions.Session" and not model._meta.label.startswith("procr")
    }
