"""Fragments: each event as the HTML that brings a page up to date.

A fragment is made of the very partials the page is made of, so that what a socket sends and what
a reload shows cannot differ. An event is rendered once, where it is made and its rows are at hand,
and published to every page; a page that missed it renders it from the log, with the rows as they
are by then. Either way a page that applies all events in order ends where a fresh one starts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.db.models import F
from django.template.loader import render_to_string

from agents.llm.windows import DEFAULT
from agents.models import Agent, BlockEdit, Event, Run, Step
from agents.models.run import waiting_runs
from agents.models.sharing import sharing_of

Kind = Event.Kind
Rows = dict[str, Any]
Subject = dict[str, Any] | None


def render(agent: Agent, kind: str, data: dict[str, Any], rows: Rows | None = None) -> str:
    """The fragments of one event; "" where its row is gone, as a later event then tells.

    `rows` are those that `data` names, where they are at hand; else they are read.
    """
    subject = SUBJECTS[kind](agent, data, rows or {})
    if subject is None:
        return ""
    template = f"agents/events/{kind}.html"
    return drawn(template, agent=agent, data=data, **subject)


def drawn(template: str, **context: Any) -> str:
    """A fragment from its template in the folder `fragments/`."""
    return render_to_string(template, context, using="jinja2")


def memory_panel(agent: Agent) -> dict[str, Any]:
    """What the core memory panel is rendered from: each block with `newest_edit` and `sharing`."""
    blocks = agent.core_memory()
    edits = BlockEdit.objects.filter(block__in=blocks, version=F("block__version"))
    newest = {edit.block_id: edit for edit in edits.select_related("step__run")}
    sharings = sharing_of(blocks, agent.owner_id, but_for=agent.pk)
    for block in blocks:
        block.newest_edit, block.sharing = newest.get(block.pk), sharings[block.pk]
    return {"blocks": blocks}


def page_status(agent: Agent) -> dict[str, Any]:
    """What the status line and the gauge of a page are rendered from."""
    return status_of(agent, step=Step.objects.filter(run__agent=agent).order_by("pk").last())


def status_of(agent: Agent, latest: Run | None = None, step: Step | None = None) -> dict[str, Any]:
    """What the status line and the gauge are rendered from; `latest` and `step` where known.

    `tokens_used` and `window` are tokens, `percent` their ratio.
    """
    latest = latest or agent.last_run()
    step = step or (latest.step_list[-1] if latest and latest.step_list else None)
    used = ((step.prompt_tokens or step.context_tokens) if step else 0) or 0
    window = (step.window if step else 0) or agent.context_window or DEFAULT
    return {
        "running": latest if latest and latest.status in Run.ACTIVE else None,
        "last_step": step,
        "tokens_used": used,
        "window": window,
        "percent": min(100, round(100 * used / window)),
    }


def waiting(agent: Agent) -> dict[str, Any]:
    """The messages that wait."""
    return {"queue": waiting_runs(agent)}


def _run_began(agent: Agent, data: dict[str, Any], rows: Rows) -> Subject:
    if run := rows.get("run") or agent.runs.filter(pk=data["run"]).first():
        return {"run": run, **_latest(agent, run), **waiting(agent)}
    return None


def _run_changed(agent: Agent, data: dict[str, Any], rows: Rows) -> Subject:
    if run := rows.get("run"):
        return {"run": run, **status_of(agent, run)}
    if run := agent.runs.filter(pk=data["run"]).first():
        return {"run": run, **_latest(agent, run)}
    return None


def _latest(agent: Agent, run: Run) -> dict[str, Any]:
    """The status, from a run that is the newest as long as it goes on."""
    return status_of(agent, run if run.status in Run.ACTIVE else None)


def _step(agent: Agent, data: dict[str, Any], rows: Rows) -> Subject:
    if step := rows.get("step"):
        return {"step": step, **status_of(agent, step.run, step)}
    step = Step.objects.select_related("run").filter(run__agent=agent, pk=data["step"]).first()
    return {"step": step, **page_status(agent)} if step else None


def _compaction(agent: Agent, data: dict[str, Any], rows: Rows) -> Subject:
    compaction = rows.get("compaction") or agent.compactions.filter(pk=data["compaction"]).first()
    return {"compaction": compaction} if compaction else None


def _message(agent: Agent, data: dict[str, Any], rows: Rows) -> Subject:
    message = rows.get("message") or agent.messages.filter(pk=data["message"]).first()
    shown = message and message.step_id is None and not message.internal
    return {"message": message} if shown else None


def _block(agent: Agent, data: dict[str, Any], rows: Rows) -> Subject:
    """One block, with the edit at hand if it is still the newest."""
    edit = rows.get("edit")
    block = agent.held_block(UUID(data["block"]))
    if block is None:
        return None
    if edit is None or edit.version != block.version:
        edit = block.edits.filter(version=block.version).select_related("step__run").first()
    block.newest_edit = edit
    block.sharing = sharing_of([block], agent.owner_id, but_for=agent.pk)[block.pk]
    return {"block": block}


def _archival(agent: Agent, data: dict[str, Any], rows: Rows) -> Subject:
    return {"passages": agent.passage_count}


def _text(agent: Agent, data: dict[str, Any], rows: Rows) -> Subject:
    return _status(agent, data, rows) if data.get("first") else {}


def _status(agent: Agent, data: dict[str, Any], rows: Rows) -> Subject:
    return status_of(agent, rows.get("run"))


SUBJECTS: dict[str, Callable[[Agent, dict[str, Any], Rows], Subject]] = {
    Kind.AGENT_CHANGED: _status,
    Kind.MEMORY_CHANGED: lambda agent, data, rows: memory_panel(agent),
    Kind.BLOCK_EDITED: _block,
    Kind.QUEUE_CHANGED: lambda agent, data, rows: waiting(agent),
    Kind.RUN_BEGAN: _run_began,
    Kind.ACTIVITY: _status,
    Kind.STEP_BEGAN: _step,
    Kind.TEXT: _text,
    Kind.STEP_CHANGED: _step,
    Kind.ARCHIVAL_CHANGED: _archival,
    Kind.RUN_CHANGED: _run_changed,
    Kind.COMPACTED: _compaction,
    Kind.SUMMARY_CHANGED: _compaction,
    Kind.MESSAGE_CHANGED: _message,
    Kind.RESET: _status,
}
