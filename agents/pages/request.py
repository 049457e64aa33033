"""A request as views see it: of somebody who is logged in; and what it names of their rows.

A view finds a row only here: 404 where there is none, or it is not this person's to see.
"""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django_htmx.middleware import HtmxDetails

from agents.models import Agent, Block, Conversation


class Request(HttpRequest):
    """What Django and django-htmx put on a request, for the type checker."""

    user: User  # login_required lets nobody else in
    htmx: HtmxDetails


def own_agent(request: Request, agent_id: UUID) -> Agent:
    """An agent of the person's own."""
    agent: Agent = get_object_or_404(Agent.objects.visible_to(request.user), pk=agent_id)
    return agent


def own_conversation(
    request: Request, agent_id: UUID, conversation_id: UUID | None = None
) -> Conversation:
    """A conversation of an agent of the person's own; the first, where the address names none."""
    conversation = Conversation.of(own_agent(request, agent_id), conversation_id or agent_id)
    if conversation is None and conversation_id not in (None, agent_id):
        raise Http404
    return conversation or own_agent(request, agent_id).first_conversation


def held_block(request: Request, agent_id: UUID, block_id: UUID) -> tuple[Agent, Block]:
    """An agent of the person's own, and a block it holds."""
    agent = own_agent(request, agent_id)
    block: Block = get_object_or_404(Block.objects.held_by(agent), pk=block_id)
    return agent, block


def usable_block(request: Request, block_id: UUID | None) -> Block:
    """A block of the person's own, or one shared with them."""
    blocks = Block.objects.usable_by(request.user).select_related("owner")
    block: Block = get_object_or_404(blocks, pk=block_id)
    return block


def own_block(request: Request, block_id: UUID) -> Block:
    """A block of the person's own."""
    block: Block = get_object_or_404(Block.objects.owned_by(request.user), pk=block_id)
    return block


def query_number(request: Request, name: str) -> int:
    """A number an address names; 0 where it names none."""
    text = request.GET.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 18 else 0
