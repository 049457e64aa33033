"""Fragments: each event as the HTML that brings a page up to date.

A fragment is made of the very partials the page is made of, so that what a socket sends and what
a reload shows cannot differ. Events that name rows are drawn as those rows are now; a page that
applies them in order ends where a fresh one starts.
"""

from __future__ import annotations

from typing import Any

from django.db.models import F
from django.template.loader import render_to_string

from agents.context import DEFAULT_WINDOW, core_memory
from agents.models import Agent, BlockEdit, Event, Run, Step

Kind = Event.Kind


def render(agent: Agent, kind: str, data: dict[str, Any]) -> str:
    """The fragments of one event; "" where its row is gone, as a later event then tells."""
    context = {"agent": agent, "data": data} | (SUBJECTS[Kind(kind)](agent, data) or {})
    if context.get("missing"):
        return ""
    return render_to_string(f"agents/events/{kind}.html", context)


def memory_panel(agent: Agent) -> dict[str, Any]:
    """What the core memory panel is drawn from: each block with its `newest_edit`."""
    blocks = agent.core_memory()
    edits = BlockEdit.objects.filter(block__in=blocks, version=F("block__version"))
    newest = {edit.block_id: edit for edit in edits.select_related("step")}
    for block in blocks:
        block.newest_edit = newest.get(block.pk)
    return {"blocks": blocks, "compiled": core_memory(agent, blocks)}


def status_of(agent: Agent) -> dict[str, Any]:
    """What the status line, the composer's buttons and the gauge are drawn from."""
    running = agent.current_run()
    last = Step.objects.filter(run__agent=agent).order_by("-pk").first()
    used = ((last.prompt_tokens or last.context_tokens) if last else 0) or 0
    window = agent.context_window or DEFAULT_WINDOW
    return {
        "running": running,
        "last_step": last,
        "tokens_used": used,
        "window": window,
        "percent": min(100, round(100 * used / window)),
    }


def _run(agent: Agent, data: dict[str, Any]) -> dict[str, Any]:
    run = Run.objects.shown().filter(agent=agent, pk=data["run"]).first()
    return {"run": run, "missing": run is None, **status_of(agent), **_queue(agent, data)}


def _step(agent: Agent, data: dict[str, Any]) -> dict[str, Any]:
    step = (
        Step.objects.filter(run__agent=agent, pk=data["step"])
        .select_related("run")
        .prefetch_related("messages", "block_edits__block")
        .first()
    )
    return {"step": step, "missing": step is None, **status_of(agent)}


def _queue(agent: Agent, data: dict[str, Any]) -> dict[str, Any]:
    return {"queue": list(agent.runs.filter(status=Run.Status.QUEUED).order_by("pk"))}


def _block(agent: Agent, data: dict[str, Any]) -> dict[str, Any]:
    panel = memory_panel(agent)
    block = next((b for b in panel["blocks"] if str(b.pk) == data["block"]), None)
    return {**panel, "block": block, "missing": block is None}


def _activity(agent: Agent, data: dict[str, Any]) -> dict[str, Any]:
    return status_of(agent)


def _nothing(agent: Agent, data: dict[str, Any]) -> dict[str, Any]:
    return status_of(agent) if data.get("first") else {}


SUBJECTS = {
    Kind.AGENT_CHANGED: _activity,
    Kind.MEMORY_CHANGED: lambda agent, data: memory_panel(agent),
    Kind.BLOCK_EDITED: _block,
    Kind.QUEUE_CHANGED: _queue,
    Kind.RUN_BEGAN: _run,
    Kind.ACTIVITY: _activity,
    Kind.STEP_BEGAN: _step,
    Kind.TEXT: _nothing,
    Kind.STEP_CHANGED: _step,
    Kind.RUN_CHANGED: _run,
}
