"""A request as views see it: of somebody who is logged in; and what it names of their rows.

A view finds a row only here: 404 where there is none, or it is not this person's to see, and 403
where the table of `agents/permissions.py` wants another role of them.
"""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django_htmx.middleware import HtmxDetails

from agents.models import Agent, Block, Conversation, Role
from agents.models.block_checks import may_be_written_by
from agents.permissions import check, check_agent, check_temporary, role_for_page


class Request(HttpRequest):
    """What Django and django-htmx put on a request, for the type checker."""

    user: User  # login_required lets nobody else in
    htmx: HtmxDetails


def find_agent(request: Request, agent_id: UUID) -> Agent:
    """An agent that the person may see; Forbidden where this page takes another role in it."""
    agent = Agent.find_visible_to(request.user, agent_id, temporary=True)
    if agent is None:
        raise Http404
    check_temporary(agent, name_of(request))
    check_agent(agent, agent.role, needed(request))
    return agent


def name_of(request: Request) -> str:
    """The name of the page's address."""
    return (request.resolver_match and request.resolver_match.url_name) or ""


def needed(request: Request) -> Role:
    """The role that the page takes."""
    return role_for_page(name_of(request), writes=request.method == "POST")


def find_conversation(
    request: Request, agent_id: UUID, conversation_id: UUID | None = None
) -> Conversation:
    """A conversation of an agent that the person may see; the first, where the address names
    none."""
    agent = find_agent(request, agent_id)
    conversation = Conversation.of(agent, conversation_id or agent_id)
    if conversation is None and conversation_id not in (None, agent_id):
        raise Http404
    return conversation or agent.first_conversation


def held_block(request: Request, agent_id: UUID, block_id: UUID) -> tuple[Agent, Block]:
    """An agent that the person may see, and a block it holds."""
    agent = find_agent(request, agent_id)
    block: Block = get_object_or_404(Block.objects.held_by(agent), pk=block_id)
    return agent, block


def usable_block(request: Request, block_id: UUID | None, needs: Role | None = None) -> Block:
    """A block of the person's own, or one shared with them; Forbidden where it takes another role
    in it than theirs, which the page says unless `needs` does."""
    blocks = Block.objects.usable_by(request.user).select_related("owner")
    block: Block = get_object_or_404(blocks, pk=block_id)
    if block.owner_id != request.user.pk:
        role = Role.EDITOR if may_be_written_by(block, request.user.pk) else Role.VIEWER
        check(role, needs or needed(request), "block", block.owner.get_username())
    return block


def query_number(request: Request, name: str) -> int:
    """A number an address names; 0 where it names none."""
    text = request.GET.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 18 else 0
