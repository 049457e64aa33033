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
from agents.models.attached_file import READ_AS
from agents.models.event import snapshot
from agents.models.image import MOST_IMAGES
from agents.models.image_file import LARGEST_UPLOAD
from agents.models.quota_checks import lowest_meter

from . import panel
from .request import Request, find_conversation, query_number


@login_required
@require_GET
def chat(request: Request, agent_id: UUID, conversation_id: UUID | None = None) -> HttpResponse:
    """A conversation of an agent and its memory, as of one event of its log.

    `?panel=<tab>` opens a tab of the panel; `?step=<id>` or `?message=<id>` shows the transcript
    around a step or a message, in the conversation that has it; `?at=<n>` leads to the past, after
    the agent's n-th step.
    """
    if at := request.GET.get("at"):
        return redirect(f"{reverse('past_at', args=[agent_id])}?{urlencode({'at': at})}")
    with snapshot():
        conversation = find_conversation(request, agent_id, conversation_id)
        run = run_asked_for(request, conversation.agent)
        put_away = run if run and run.conversation.version_of_id else None
        if run and run.conversation.shown != conversation:
            address = reverse("conversation", args=[agent_id, run.conversation.shown.pk])
            return redirect(f"{address}?{request.GET.urlencode()}")
        context = chat_context(conversation, None if put_away else run)
        context |= panel.panel_context(request, conversation) | {"put_away": put_away}
        context["quota"] = lowest_meter(request.user.pk)
        response = render(request, "agents/chat.html", context)
    return response


def run_asked_for(request: Request, agent: Agent) -> Run | None:
    """The run of the step or the message that an address names, if the agent has such a one."""
    if step_id := query_number(request, "step"):
        return agent.runs.filter(steps=step_id).first()
    if message_id := query_number(request, "message"):
        return agent.runs.filter(messages=message_id).first()
    return None


def chat_context(conversation: Conversation, run: Run | None = None) -> dict[str, Any]:
    """What the chat page is drawn from, with a run to be shown among the others."""
    return {
        "agent": conversation.agent,
        "conversation": conversation,
        "most_images": MOST_IMAGES,
        "largest_upload": LARGEST_UPLOAD,
        "read_files": ",".join(READ_AS),
        **fragments.transcript(conversation, at=run.pk if run else None),
        **fragments.memory_panel(conversation.agent),
        **fragments.page_status(conversation),
        **fragments.waiting(conversation),
    }
