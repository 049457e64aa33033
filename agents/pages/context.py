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

from agents.llm import ModelError, facts, resolve
from agents.llm.dialects import STRICTEST, Dialect
from agents.llm.windows import window_of
from agents.memory.classes import template_of
from agents.memory.context import Context, compile_context, core_memory
from agents.models import Conversation, Event, Run, Step
from agents.models.event import snapshot
from agents.runs.work import Work
from agents.text.json import pretty

from .context_chart import BarPart, ContextBar, context_bar
from .request import Request, find_agent, find_conversation
from .step_chart import chart

KINDS = (  # of events after which the picture is another
    Event.Kind.STEP_CHANGED,
    Event.Kind.BLOCK_EDITED,
    Event.Kind.MEMORY_CHANGED,
    Event.Kind.COMPACTED,
    Event.Kind.SUMMARY_CHANGED,
    Event.Kind.RUN_CHANGED,
    Event.Kind.AGENT_CHANGED,
    Event.Kind.CONVERSATION_CHANGED,
    Event.Kind.MESSAGE_CHANGED,
    Event.Kind.RESET,
)
LONGEST_TEXT = 200_000  # characters of a part that are shown


def tab(request: Request, conversation: Conversation) -> dict[str, Any]:
    """What the tab is drawn from."""
    bar = bar_now(conversation)
    return {
        "bar": bar,
        "parts": [(share, address_of(conversation, share)) for share in bar.shares],
        "chart": chart(conversation),
        "estimated": conversation.agent.bytes_per_token is None,
        "live": " ".join(KINDS),
    }


def address_of(conversation: Conversation, share: BarPart) -> str:
    """Where the text of a part is had."""
    place = [conversation.agent_id, conversation.pk, share.key]
    return reverse("context_part", args=place) if share.size else ""


@login_required
@require_GET
def part(
    request: Request, agent_id: UUID, name: str, conversation_id: UUID | None = None
) -> HttpResponse:
    """The text of a part of what would be sent now."""
    with snapshot():
        conversation = find_conversation(request, agent_id, conversation_id)
        return text_of(request, bar_now(conversation), name)


@login_required
@require_GET
def compiled_memory(request: Request, agent_id: UUID) -> HttpResponse:
    """Core memory as the model will see it."""
    with snapshot():
        agent = find_agent(request, agent_id)
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


def bar_now(conversation: Conversation) -> ContextBar:
    agent = conversation.agent
    context, model, address = context_now(conversation)
    template = template_of(agent.prompt_template, agent.memory_class)
    return context_bar(context, list(context.blocks), template, model, agent.owner_id, address)


def context_now(conversation: Conversation) -> tuple[Context, str, str]:
    """The context as a run that began now would have it, the model that would answer, and where.

    Asks no endpoint: where only that could say which model answers, the last step's counts.
    """
    agent = conversation.agent
    steps = Step.objects.filter(run__conversation=conversation.pk)
    newest = steps.aggregate(newest=Max("pk"))["newest"]
    last = Step.objects.filter(pk=newest).first() if newest else None
    run = Run(agent=agent, conversation=conversation)
    run.message_list, run.step_list, run.compaction_list = [], [], []
    work = Work(run)
    offered = work.offered()
    try:
        endpoint, model = resolve(work.model, agent.owner_id, ask=False)
    except ModelError:
        model, window = (last.model, last.window) if last else (work.model, None)
        dialect = Dialect(**last.request.get("dialect", {})) if last else STRICTEST
        context = compile_context(conversation, window, offered=offered, dialect=dialect)
        return context, model, last.endpoint if last else ""
    window = window_of(endpoint, model, ask=False)
    own = conversation.context_window or agent.context_window
    if last and (last.model, last.endpoint) == (model, str(endpoint)) and not own:
        window = last.window
    dialect, at_most = facts.dialect_of(endpoint, model), facts.window_learned(endpoint, model)
    context = compile_context(
        conversation, window, offered=offered, dialect=dialect, at_most=at_most
    )
    return context, model, str(endpoint)
