"""The list of agents beside every page: what follows below, and what a person makes of it."""

from __future__ import annotations

from contextlib import suppress
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from agents.live.fragments import drawn
from agents.models import Agent, Conversation, ListedAgent, ListedConversation
from agents.models.agent_list import FURTHER, MOST, list_agents
from agents.models.message import storable

from .request import Request, find_agent, query_number

LONGEST_QUERY = 100  # characters


@login_required
@require_GET
def further(request: Request) -> HttpResponse:
    """The agents from place `?start=` of the list on, `?most=` of them; those with `?q=` in their
    name; or, with `?archived=1`, those that the person archived."""
    query = storable(request.GET.get("q", "")).strip()[:LONGEST_QUERY]
    start, most = query_number(request, "start"), query_number(request, "most") or FURTHER
    agents = list_agents(
        request.user,
        start=min(start, 1_000_000),
        most=min(most, MOST),
        query=query,
        archived="archived" in request.GET,
    )
    is_found = query or "archived" in request.GET  # and the list itself is on the page as well
    empty = gettext("No agent has this in its name") if query else gettext("No agents are archived")
    context = {"agents": agents, "viewer": request.user, "empty": "" if start else empty}
    context["prefix"] = "found" if is_found else "listed"
    return HttpResponse(drawn("agents/_agents.html", **context))


@login_required
@require_POST
def change(request: Request, agent_id: UUID) -> HttpResponse:
    """What a person makes of an agent in their own list. POST: `pinned` or `archived`, 1 or 0, or
    `read`, with the `conversation` that they read."""
    agent = find_agent(request, agent_id)
    asked = request.POST
    if "pinned" in asked:
        ListedAgent.pin(request.user, agent, on=asked["pinned"] == "1")
    if "archived" in asked:
        ListedAgent.archive(request.user, agent, on=asked["archived"] == "1")
    if "read" in asked:
        with suppress(IntegrityError):  # it was deleted at this moment, so nothing is to be marked
            mark_read(request, agent)
        return HttpResponse(status=204)
    return listed(request)


def mark_read(request: Request, agent: Agent) -> None:
    """Note that a person has seen an agent, and the `conversation` that the page names."""
    ListedAgent.read(request.user, agent)
    key = uuid_of(request.POST.get("conversation", ""))
    if key and (conversation := Conversation.of(agent, key)):
        ListedConversation.read(request.user, conversation)


@login_required
@require_POST
def rename(request: Request, agent_id: UUID) -> HttpResponse:
    """Give an agent another name. POST: `name`."""
    agent = find_agent(request, agent_id)
    agent.name = storable(request.POST.get("name", "")).strip()
    try:
        agent.clean_fields(exclude=[f.name for f in agent._meta.fields if f.name != "name"])
    except ValidationError as error:
        is_name = "name" in error.message_dict
        words = gettext("A name has 1 to 100 characters.") if is_name else str(error)
        return HttpResponse(words, status=422, content_type="text/plain")
    agent.configure(name=agent.name)
    return listed(request)


def listed(request: Request) -> HttpResponse:
    """The list as it is now, in the place of the one on the page, whose agent is `shown`."""
    if not request.htmx:
        return redirect("home")
    shown = uuid_of(request.POST.get("shown", ""))
    context = {
        "agents": list_agents(request.user, shown),
        "viewer": request.user,
        "shown_id": shown,
        "shown_conversation": uuid_of(request.POST.get("shown_conversation", "")),
    }
    return HttpResponse(drawn("agents/_agents_now.html", **context))


def uuid_of(text: str) -> UUID | None:
    """The id that a page sent, if it is one."""
    try:
        return UUID(text)
    except ValueError:
        return None
