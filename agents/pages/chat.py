"""The chat page: a conversation of an agent with its memory beside it. Looking changes nothing."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from agents.live import fragments
from agents.models import Agent, Conversation, Run
from agents.models.event import snapshot
from agents.models.image import MOST_IMAGES
from agents.models.image_file import LARGEST_UPLOAD

from . import panel
from .request import Request, find_conversation

RUNS_A_PAGE = 20
MOST_RUNS = 200  # on a page that was asked for an old step


@login_required
@require_GET
def home(request: Request) -> HttpResponse:
    """The newest agent, or the way to make one."""
    agent = Agent.objects.visible_to(request.user).listed().order_by("-updated_at").first()
    return redirect("agent", agent.pk) if agent else redirect("agent_new")


@login_required
@require_GET
def chat(request: Request, agent_id: UUID, conversation_id: UUID | None = None) -> HttpResponse:
    """A conversation of an agent and its memory, as of one event of its log.

    `?panel=<tab>` opens a tab of the panel; `?step=<id>` shows the transcript around a
    step, in the conversation that has it;
    `?at=<n>` leads to the past, after the agent's n-th step.
    """
    if at := request.GET.get("at"):
        return redirect(f"{reverse('past_at', args=[agent_id])}?{urlencode({'at': at})}")
    with snapshot():
        conversation = find_conversation(request, agent_id, conversation_id)
        run = run_of_step(conversation.agent, request.GET.get("step", ""))
        if run and run.conversation_id != conversation.pk:
            address = reverse("conversation", args=[agent_id, run.conversation_id])
            return redirect(f"{address}?{request.GET.urlencode()}")
        context = chat_context(conversation, run) | panel.panel_context(request, conversation)
        response = render(request, "agents/chat.html", context)
    return response


def run_of_step(agent: Agent, step_id: str) -> Run | None:
    """The run of the step an address names, if the agent has such a step."""
    if not step_id.isdecimal() or len(step_id) > 18:
        return None
    return agent.runs.filter(steps=int(step_id)).first()


def chat_context(conversation: Conversation, run: Run | None = None) -> dict[str, Any]:
    """What the chat page is drawn from, with a run to be shown among the others."""
    return {
        "agent": conversation.agent,
        "conversation": conversation,
        "most_images": MOST_IMAGES,
        "largest_image": LARGEST_UPLOAD,
        **transcript(conversation, at=run.pk if run else None),
        **fragments.memory_panel(conversation.agent),
        **fragments.page_status(conversation),
        **fragments.waiting(conversation),
    }


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
