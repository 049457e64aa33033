"""The context window's tab: what would be sent now as a picture, and what the steps took."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.db.models import Max
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from agents.ledger.time_travel import steps_of
from agents.llm import ModelError, facts, resolve
from agents.llm.dialects import STRICTEST, Dialect
from agents.llm.windows import window_of
from agents.memory.classes import template_of
from agents.memory.context import Context, compile_context, core_memory
from agents.models import Agent, Event, Run, Step
from agents.models.event import snapshot
from agents.runs.work import Work
from agents.text.json import pretty

from .context_chart import BarPart, ContextBar, chart, context_bar
from .request import Request, own_agent

KINDS = (  # of events after which the picture is another
    Event.Kind.STEP_CHANGED,
    Event.Kind.BLOCK_EDITED,
    Event.Kind.MEMORY_CHANGED,
    Event.Kind.COMPACTED,
    Event.Kind.SUMMARY_CHANGED,
    Event.Kind.RUN_CHANGED,
    Event.Kind.AGENT_CHANGED,
)
LONGEST_TEXT = 200_000  # characters of a part that are shown


def tab(request: Request, agent: Agent) -> dict[str, Any]:
    """What the tab is drawn from."""
    bar = bar_now(agent)
    return {
        "bar": bar,
        "parts": [(share, address_of(agent, share)) for share in bar.shares],
        "chart": chart(agent),
        "estimated": agent.bytes_per_token is None,
        "live": " ".join(KINDS),
    }


def address_of(agent: Agent, share: BarPart) -> str:
    """Where the text of a part is had."""
    return reverse("context_part", args=[agent.pk, share.key]) if share.size else ""


@login_required
@require_GET
def part(request: Request, agent_id: UUID, name: str) -> HttpResponse:
    """The text of a part of what would be sent now."""
    with snapshot():
        agent = own_agent(request, agent_id)
        return text_of(request, bar_now(agent), name)


@login_required
@require_GET
def compiled_memory(request: Request, agent_id: UUID) -> HttpResponse:
    """Core memory as the model will see it."""
    with snapshot():
        agent = own_agent(request, agent_id)
        text = core_memory(agent, agent.core_memory())
    return render(request, "agents/panel/_part_text.html", {"text": text})


def text_of(request: Request, bar: ContextBar, name: str) -> HttpResponse:
    """A part's text, its end where it is very long."""
    share = next((share for share in bar.shares if share.key == name and share.size), None)
    if share is None:
        raise Http404
    text = share.text if name not in ("messages", "tools") else json_lines(share)
    cut = max(len(text) - LONGEST_TEXT, 0)
    return render(request, "agents/panel/_part_text.html", {"text": text[cut:], "cut": cut})


def json_lines(share: BarPart) -> str:
    """JSON as it is read: each message of the history stands in a line of its own."""
    return "\n".join(pretty(line) for line in share.text.split("\n") if line)


# -- what would be sent now ------------------------------------------------------------------------


def bar_now(agent: Agent) -> ContextBar:
    context, model = context_now(agent)
    template = template_of(agent.prompt_template, agent.memory_class)
    return context_bar(context, list(context.blocks), template, model, agent.owner_id)


def context_now(agent: Agent) -> tuple[Context, str]:
    """The context as a run that began now would have it, and the model that would answer.

    Asks no endpoint: where only that could say which model answers, the last step's counts.
    """
    newest = steps_of(agent).aggregate(newest=Max("pk"))["newest"]
    last = Step.objects.filter(pk=newest).first() if newest else None
    run = Run(agent=agent)
    run.message_list, run.step_list, run.compaction_list = [], [], []
    offered = Work(run).offered()
    try:
        endpoint, model = resolve(agent.model, ask=False)
    except ModelError:
        model, window = (last.model, last.window) if last else (agent.model, None)
        dialect = Dialect(**last.request.get("dialect", {})) if last else STRICTEST
        return compile_context(agent, window, offered=offered, dialect=dialect), model
    window = window_of(endpoint, model, ask=False)
    if last and (last.model, last.endpoint) == (model, str(endpoint)) and not agent.context_window:
        window = last.window
    dialect, at_most = facts.dialect_of(endpoint, model), facts.window_learned(endpoint, model)
    context = compile_context(agent, window, offered=offered, dialect=dialect, at_most=at_most)
    return context, model
