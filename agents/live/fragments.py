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

from django.template.loader import render_to_string

from agents.ledger.recent import add_recent, by_change, index_of
from agents.llm.windows import DEFAULT
from agents.models import Agent, Conversation, Event, Run, Step
from agents.models.sharing import sharing_of

from .pending_changes import add_pending

RUNS_A_PAGE = 20
MOST_RUNS = 200  # on a page that was asked for an old step

Kind = Event.Kind
Rows = dict[str, Any]
Subject = dict[str, Any] | None


def render(
    conversation: Conversation, kind: str, data: dict[str, Any], rows: Rows | None = None
) -> str:
    """The fragments of one event, for the pages of a conversation; "" where its row is gone, as a
    later event then tells.

    `rows` are those that `data` names, where they are at hand; else they are read.
    """
    subject = SUBJECTS[kind](conversation, data, rows or {})
    if subject is None:
        return ""
    template = f"agents/events/{kind}.html"
    shown = {"agent": conversation.agent, "conversation": conversation, "data": data}
    return drawn(template, **shown, **subject)


def render_published(agent: Agent, event: Event) -> str:
    """The fragments of an event that was recorded just now.

    What pages of all the agent's conversations draw says nothing of any of them.
    """
    conversation = event.conversation or Conversation()
    conversation.agent = agent
    return render(conversation, event.kind, event.data, event.rows)


def drawn(template: str, **context: Any) -> str:
    """A fragment from its template in the folder `agents/jinja2/`."""
    return render_to_string(template, context, using="jinja2")


def memory_panel(agent: Agent) -> dict[str, Any]:
    """What the core memory panel is rendered from: each block with its changes and `sharing`."""
    blocks = agent.core_memory()
    add_recent(blocks)
    add_pending(agent, blocks)
    sharings = sharing_of(blocks, agent.owner_id, but_for=agent.pk)
    for block in blocks:
        block.sharing = sharings[block.pk]
    return {"blocks": blocks, "index": by_change(blocks)}


def transcript(
    conversation: Conversation, before: int | None = None, at: int | None = None
) -> dict[str, Any]:
    """The newest runs, or those before one, and whether there are older.

    With `at`, all from that run to the newest; where they are too many, only a page around it, and
    in `newer` how many follow.
    """
    runs = Run.objects.shown().filter(conversation=conversation.pk)
    if before is not None:
        runs = runs.filter(pk__lt=before)
    most, newer = RUNS_A_PAGE, 0
    if at is not None:
        since = list(runs.filter(pk__gte=at).prefetch_related(None).values_list("pk", flat=True))
        most = max(RUNS_A_PAGE, len(since) + RUNS_A_PAGE // 2)
        if most > MOST_RUNS:
            most, newer = RUNS_A_PAGE, len(since) - RUNS_A_PAGE // 2
            runs = runs.filter(pk__lt=since[RUNS_A_PAGE // 2])
    newest = list(runs.order_by("-pk")[: most + 1])
    return {"runs": newest[:most][::-1], "has_older": len(newest) > most, "newer": newer}


def page_status(conversation: Conversation) -> dict[str, Any]:
    """What the status line and the gauge of a page are rendered from."""
    steps = Step.objects.filter(run__conversation=conversation.pk)
    return status_of(conversation, step=steps.order_by("pk").last())


def status_of(
    conversation: Conversation, latest: Run | None = None, step: Step | None = None
) -> dict[str, Any]:
    """What the status line and the gauge are rendered from; `latest` and `step` where known.

    `tokens_used` and `window` are tokens, `percent` their ratio.
    """
    latest = latest or conversation.last_run()
    step = step or (latest.step_list[-1] if latest and latest.step_list else None)
    used = ((step.prompt_tokens or step.context_tokens) if step else 0) or 0
    own = conversation.context_window or conversation.agent.context_window
    window = (step.window if step else 0) or own or DEFAULT
    return {
        "running": latest if latest and latest.status in Run.ACTIVE else None,
        "last_step": step,
        "tokens_used": used,
        "window": window,
        "percent": min(100, round(100 * used / window)),
    }


def waiting(conversation: Conversation) -> dict[str, Any]:
    """The messages that wait."""
    return {"queue": conversation.waiting_runs()}


def _run_began(conversation: Conversation, data: dict[str, Any], rows: Rows) -> Subject:
    if run := rows.get("run") or conversation.runs.filter(pk=data["run"]).first():
        queue = {"queue": []} if run.waited_for_none else waiting(conversation)
        return {"run": run, **_latest(conversation, run), **queue}
    return None


def _run_changed(conversation: Conversation, data: dict[str, Any], rows: Rows) -> Subject:
    if run := rows.get("run"):
        return {"run": run, **status_of(conversation, run)}
    if run := conversation.runs.filter(pk=data["run"]).first():
        return {"run": run, **_latest(conversation, run)}
    return None


def _latest(conversation: Conversation, run: Run) -> dict[str, Any]:
    """The status, from a run that is the newest as long as it goes on."""
    return status_of(conversation, run if run.status in Run.ACTIVE else None)


def _step(conversation: Conversation, data: dict[str, Any], rows: Rows) -> Subject:
    if step := rows.get("step"):
        return {"step": step, **status_of(conversation, step.run, step)}
    steps = Step.objects.select_related("run").filter(run__conversation=conversation.pk)
    step = steps.filter(pk=data["step"]).first()
    return {"step": step, **page_status(conversation)} if step else None


def _compaction(conversation: Conversation, data: dict[str, Any], rows: Rows) -> Subject:
    compaction = rows.get("compaction")
    if compaction is None:
        compaction = conversation.compactions.filter(pk=data["compaction"]).first()
    return {"compaction": compaction} if compaction else None


def _message(conversation: Conversation, data: dict[str, Any], rows: Rows) -> Subject:
    message = rows.get("message") or conversation.messages.filter(pk=data["message"]).first()
    if message is None or message.step_id or message.internal:
        return None
    return {"message": message, "run": message.run}


def _block(conversation: Conversation, data: dict[str, Any], rows: Rows) -> Subject:
    """One block, with the edit at hand if it is still the newest."""
    agent, edit = conversation.agent, rows.get("edit")
    block = agent.held_block(UUID(data["block"]))
    if block is None:
        return None
    add_recent([block], edit if edit and edit.version == block.version else None)
    add_pending(agent, [block])
    block.sharing = sharing_of([block], agent.owner_id, but_for=agent.pk)[block.pk]
    return {"block": block, "index": index_of(agent)}


def _archival(conversation: Conversation, data: dict[str, Any], rows: Rows) -> Subject:
    return {"passages": conversation.agent.passage_count}


def _version(conversation: Conversation, data: dict[str, Any], rows: Rows) -> Subject:
    shown = transcript(conversation, before=data["until"] + 1)
    return {**shown, **page_status(conversation)}


def _status(conversation: Conversation, data: dict[str, Any], rows: Rows) -> Subject:
    return status_of(conversation, rows.get("run"))


SUBJECTS: dict[str, Callable[[Conversation, dict[str, Any], Rows], Subject]] = {
    Kind.AGENT_CHANGED: _status,
    Kind.MEMORY_CHANGED: lambda conversation, data, rows: memory_panel(conversation.agent),
    Kind.BLOCK_EDITED: _block,
    Kind.QUEUE_CHANGED: lambda conversation, data, rows: waiting(conversation),
    Kind.RUN_BEGAN: _run_began,
    Kind.ACTIVITY: _status,
    Kind.STEP_BEGAN: _step,
    Kind.STEP_CHANGED: _step,
    Kind.ARCHIVAL_CHANGED: _archival,
    Kind.RUN_CHANGED: _run_changed,
    Kind.COMPACTED: _compaction,
    Kind.SUMMARY_CHANGED: _compaction,
    Kind.MESSAGE_CHANGED: _message,
    Kind.VERSION_CHANGED: _version,
    Kind.RESET: _status,
    Kind.CONVERSATION_CHANGED: _status,
}
