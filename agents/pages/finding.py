"""Finding: over all that a person may see, as they type, and within one agent."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET

from agents.models import Agent, Block, Conversation, Message, Passage
from agents.models.event import snapshot
from agents.search.finding import Asked, find_everywhere, find_in
from agents.search.scope import Messages
from agents.text.marks import Piece

from .request import Request, find_agent


@login_required
@require_GET
def everywhere(request: Request) -> HttpResponse:
    """What `?q=<words>` finds, as the options of a list; without words the agents."""
    with snapshot():
        found = find_everywhere(request.user, request.GET.get("q", ""))
        asked = found.asked
        groups = [
            (gettext("Agents"), [option_of_agent(each, asked) for each in found.agents]),
            (gettext("Messages"), [option_of_message(each, asked) for each in found.messages]),
            (gettext("Blocks"), [option_of_block(each, asked) for each in found.blocks]),
            (gettext("Passages"), [option_of_passage(each, asked) for each in found.passages]),
        ]
        context = {"groups": [group for group in groups if group[1]], "asked": asked}
        return render(request, "agents/finding/_options.html", context)


@login_required
@require_GET
def within(request: Request, agent_id: UUID) -> JsonResponse:
    """What `?q=<words>` finds of what was said to an agent or by it, the newest first: where each
    message stands, and the beginnings of the words that are marked."""
    with snapshot():
        agent = find_agent(request, agent_id)
        asked, messages, is_limited = find_in(agent, request.GET.get("q", ""))
    hits = [
        {"message": each.pk, "step": each.step_id, "address": address_of(each, asked)}
        for each in messages
    ]
    looked_for = sorted(asked.looked_for)
    return JsonResponse({"hits": hits, "is_limited": is_limited, "looked_for": looked_for})


# -- what an option says, and where it leads -------------------------------------------------------


@dataclass(frozen=True)
class Option:
    """A row that was found: where it leads, its text with the words marked, and whose it is."""

    address: str
    pieces: list[Piece]
    agent: Agent | None = None
    conversation: str = ""
    moment: datetime | None = None
    name: str = ""


def option_of_agent(agent: Agent, asked: Asked) -> Option:
    return Option(reverse("agent", args=[agent.pk]), asked.marked(agent.name), agent)


def option_of_message(message: Message, asked: Asked) -> Option:
    pieces = asked.excerpt(Messages.text(message))
    title = message.conversation.title
    return Option(address_of(message, asked), pieces, message.agent, title, message.created_at)


def option_of_block(block: Block, asked: Asked) -> Option:
    address = f"{reverse('block', args=[block.pk])}?{urlencode({'find': asked.text})}"
    return Option(address, asked.excerpt(block.value), name=block.label)


def option_of_passage(passage: Passage, asked: Asked) -> Option:
    query = {"panel": "archival", "q": asked.text, "find": asked.text}
    address = f"{reverse('agent', args=[passage.agent_id])}?{urlencode(query)}"
    pieces = asked.excerpt(passage.text)
    return Option(f"{address}#passage-{passage.pk}", pieces, passage.agent, "", passage.created_at)


def address_of(message: Message, asked: Asked) -> str:
    """Where a message stands, with what was looked for."""
    name, number = message.place
    page = Conversation(pk=message.conversation_id, agent_id=message.agent_id).get_absolute_url()
    return f"{page}?{urlencode({name: number, 'find': asked.text})}#{name}-{number}"
