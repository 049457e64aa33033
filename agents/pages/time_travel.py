"""Time travel: an agent as it was right after one of its steps, to look at and to fork from.

The steps are those of all its conversations, or, below a conversation's address, of that one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.db.models import Prefetch
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from agents.ledger import fork as forks
from agents.ledger import time_travel
from agents.memory import sent_requests
from agents.memory.classes import template_of
from agents.models import Agent, Block, Conversation, Message, Run, Step
from agents.models.event import snapshot
from agents.models.message import storable
from agents.text.numbers import whole

from .context import text_of
from .context_chart import ContextBar, context_bar
from .request import Request, find_agent, find_conversation

RUNS_SHOWN = 20
STEPS_SHOWN = 60
LONGEST_NAME = Agent._meta.get_field("name").max_length or 0  # characters


@dataclass(frozen=True)
class Way:
    """The steps that one goes through: all of an agent, or those of one of its conversations."""

    agent: Agent
    conversation: Conversation | None = None

    @property
    def of(self) -> Agent | Conversation:
        return self.conversation or self.agent

    @property
    def now(self) -> str:
        """The address of the present."""
        return (self.conversation or self.agent.first_conversation).get_absolute_url()

    def address(self, name: str, *rest: Any) -> str:
        """The address of that name, on this way."""
        within = [self.conversation.pk] if self.conversation else []
        return reverse(name, args=[self.agent.pk, *within, *rest])

    def beside(self, step: Step) -> dict[str, Any]:
        """The conversation of a step, and the address of the step on the other way; nothing where
        the agent has one conversation."""
        if self.agent.conversations.count() < 2:
            return {}
        conversation = step.run.conversation
        other = Way(self.agent, None if self.conversation else conversation)
        address = other.address("past", time_travel.number_of(step, other.of))
        return {"said_in": conversation, "within": self.conversation, "other_way": address}


def way_of(request: Request, agent_id: UUID, conversation_id: UUID | None) -> Way:
    """The steps that an address is about."""
    if conversation_id is None:
        return Way(find_agent(request, agent_id))
    conversation = find_conversation(request, agent_id, conversation_id)
    return Way(conversation.agent, conversation)


@login_required
@require_GET
def find(request: Request, agent_id: UUID, conversation_id: UUID | None = None) -> HttpResponse:
    """Lead to the step of `?at=<number>`, of `?step=<id>`, or to the newest one."""
    way = way_of(request, agent_id, conversation_id)
    steps = time_travel.steps_of(way.of)
    at, key = request.GET.get("at", ""), request.GET.get("step", "")
    if is_number(key):
        step = get_object_or_404(steps.select_related("run__agent"), pk=int(key))
        return redirect(way.address("past", time_travel.number_of(step, way.of)))
    count = steps.count()
    number = int(at) if is_number(at) else count
    if number > count:
        return redirect(way.now)
    if not count:
        return render(request, "agents/past/none.html", {"agent": way.agent})
    return redirect(way.address("past", max(number, 1)))


def is_number(text: str) -> bool:
    return text.isdecimal() and len(text) < 18


@login_required
@require_GET
def show(
    request: Request, agent_id: UUID, number: int, conversation_id: UUID | None = None
) -> HttpResponse:
    """The agent after its step of that number; past the last one, the agent itself."""
    with snapshot():
        way = way_of(request, agent_id, conversation_id)
        step = time_travel.step_at(way.of, number)
        if step is None:
            if not number:
                raise Http404
            return redirect(way.now)
        context = past_context(way, step, number)
        if request.htmx:
            return render(request, "agents/past/_then.html", context)
        return render(request, "agents/past/show.html", context)


def past_context(way: Way, step: Step, number: int, **more: Any) -> dict[str, Any]:
    """What the past is drawn from: blocks, context and transcript, as they were."""
    agent, steps = way.agent, time_travel.steps_of(way.of).count()
    moment = timezone.localtime(time_travel.ended_at(step))
    blocks = time_travel.blocks_at(step)
    bar = bar_of(agent, step, blocks)
    return {
        "agent": agent,
        "now_address": way.now,
        "travel_address": way.address("past_at"),
        "fork_address": way.address("past_fork", number),
        **way.beside(step),
        "step": step,
        "number": number,
        "steps": steps,
        "now": steps + 1,
        "moment": date_format(moment, "EXACT_FORMAT"),
        "blocks": blocks,
        "bar": bar,
        "parts": [
            (s, way.address("past_part", number, s.key) if s.size else "") for s in bar.shares
        ]
        if bar
        else [],
        "estimated": not step.prompt_tokens,
        "fork_name": fork_name(agent, number),
        **transcript(step),
        **more,
    }


def bar_of(agent: Agent, step: Step, blocks: list[time_travel.PastBlock]) -> ContextBar | None:
    """The context as it was sent in the step; None where nothing was kept of it."""
    sent = sent_requests.sent(step)
    if sent is None or not sent.context.size:
        return None
    held = [
        Block(
            pk=UUID(b.id),
            owner_id=b.owner_id or agent.owner_id,
            label=b.label,
            value=b.before,
            limit=b.limit,
            description=b.description,
        )
        for b in blocks
    ]
    template = template_of(agent.prompt_template, agent.memory_class)
    return context_bar(sent.context, held, template, step.model, agent.owner_id, step.endpoint)


@login_required
@require_GET
def part(
    request: Request, agent_id: UUID, number: int, name: str, conversation_id: UUID | None = None
) -> HttpResponse:
    """The text of a part of the context as it was sent in a step."""
    with snapshot():
        way = way_of(request, agent_id, conversation_id)
        step = time_travel.step_at(way.of, number)
        bar = bar_of(way.agent, step, time_travel.blocks_at(step)) if step else None
        if bar is None:
            raise Http404
        return text_of(request, bar, name)


# -- the conversation up to a step -----------------------------------------------------------------


def transcript(step: Step) -> dict[str, Any]:
    """The newest runs up to a step, each with its steps and compactions until then."""
    told = Step.objects.filter(run__conversation=step.run.conversation_id)
    older = told.filter(pk__lte=step.pk).order_by("-pk")
    keys = list(older.values_list("pk", flat=True)[: STEPS_SHOWN + 1])
    own = ("messages", "block_edits__block", "approvals__decided_by")
    newest_first = Step.objects.filter(pk__in=keys).order_by("-pk").select_related("run")
    taken = list(newest_first.prefetch_related(*own))
    cut = len(taken) > STEPS_SHOWN
    first = taken[-1].run_id if cut else 0
    runs = list(runs_until(step).filter(pk__gte=first)[: RUNS_SHOWN + 1])
    shown = runs[:RUNS_SHOWN][::-1]
    for run in shown:
        run.step_list = [each for each in taken[::-1] if each.run_id == run.pk]
        if run.pk == step.run_id:
            end = time_travel.ended_at(step)
            run.compaction_list = [c for c in run.compactions.all() if c.created_at <= end]
    return {
        "runs": shown,
        "has_older": cut or len(runs) > RUNS_SHOWN,
        "goes_on": Step.objects.filter(run=step.run_id, pk__gt=step.pk).exists(),
    }


def runs_until(step: Step) -> Any:
    """The runs up to a step's, newest first, with what was said outside their steps."""
    outside_steps = Prefetch("messages", Message.objects.filter(step=None))
    told = Run.objects.filter(conversation=step.run.conversation_id, pk__lte=step.run_id)
    runs = told.exclude(status=Run.Status.QUEUED)
    return runs.order_by("-pk").prefetch_related(outside_steps, "compactions")


# -- fork ------------------------------------------------------------------------------------------


@login_required
@require_POST
def fork(
    request: Request, agent_id: UUID, number: int, conversation_id: UUID | None = None
) -> HttpResponse:
    """Make a new agent as this one was after a step. POST: `name`."""
    way = way_of(request, agent_id, conversation_id)
    step = time_travel.step_at(way.of, number)
    if step is None:
        raise Http404
    name = storable(request.POST.get("name", "")).strip() or fork_name(way.agent, number)
    if len(name) > LONGEST_NAME:
        words = gettext("The name has %(count)s characters; at most %(most)s are allowed.")
        error = words % {"count": whole(len(name)), "most": LONGEST_NAME}
        context = past_context(way, step, number, fork_name=name, fork_error=error)
        return render(request, "agents/past/show.html", context, status=422)
    return redirect("agent", forks.fork(step, name, request.user).pk)


def fork_name(agent: Agent, number: int) -> str:
    """What a fork is called if nobody says otherwise."""
    end = gettext(", forked at step %(number)s") % {"number": number}
    return agent.name[: LONGEST_NAME - len(end)] + end
