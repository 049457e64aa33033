"""An agent's conversations: listed, searched, begun, renamed, archived and deleted."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import HttpResponseClientRedirect

from agents.agent_file.documents import FORMS, download_conversation
from agents.live.fragments import drawn
from agents.models import Agent, Conversation, LimitReached, Message
from agents.models.conversation_list import list_conversations
from agents.models.event import snapshot
from agents.models.message import storable
from agents.search import hybrid
from agents.search.scope import Messages
from agents.search.words import excerpt

from .request import Request, find_agent, find_conversation
from .runs import done

MOST_FOUND = 50  # messages that a search shows
LONGEST_SHOWN = 300  # characters of each
LONGEST_QUERY = 500  # characters
LONGEST_FILTER = 100  # characters
LISTED = 100


@dataclass(frozen=True)
class Found:
    """A message that a search found, with the part of it that the query is about."""

    message: Message
    excerpt: str


@login_required
@require_GET
def index(request: Request, agent_id: UUID) -> HttpResponse:
    """All conversations of an agent, also the archived ones; `?q=` finds messages in them.

    A page of them: the newest, or, with `?after=<id>`, those that were spoken in before that one.
    """
    agent = find_agent(request, agent_id)
    query = storable(request.GET.get("q", "")).strip()[:LONGEST_QUERY]
    found = found_messages(agent, query) if query else []  # it may ask an embedding model
    with snapshot():
        conversations = agent.conversations.filter(hidden=False).by_activity()
        after = conversation_named(agent, request.GET.get("after", ""))
        if after:
            conversations = conversations.less_recent_than(after)
        rows = list(conversations[: LISTED + 1])
        context = {
            "agent": agent,
            "conversations": rows[:LISTED],
            "has_more": len(rows) > LISTED,
            "after": after,
            "query": query,
            "found": found,
        }
        name = "_listed" if request.htmx else "index"
        return render(request, f"agents/conversations/{name}.html", context)


@login_required
@require_GET
def titled(request: Request, agent_id: UUID) -> HttpResponse:
    """The conversations with `?q=` in their title, for the list beside every page."""
    agent = find_agent(request, agent_id)
    query = storable(request.GET.get("q", "")).strip()[:LONGEST_FILTER]
    context = {
        "conversations": list_conversations(agent, request.user, query=query),
        "empty": gettext("No conversation has this in its title"),
    }
    return HttpResponse(drawn("agents/_conversations.html", **context))


def conversation_named(agent: Agent, key: str) -> Conversation | None:
    """The agent's conversation of that id, if there is one."""
    try:
        return Conversation.of(agent, UUID(key))
    except ValueError:
        return None


def found_messages(agent: Agent, query: str) -> list[Found]:
    """The messages that match best, in whichever conversation, the best first."""
    rows = [row for row, _ in hybrid.search(Messages(agent), query, MOST_FOUND).rows]
    conversations = Conversation.objects.in_bulk({row.conversation_id for row in rows})
    rows = [row for row in rows if row.conversation_id in conversations]  # not just deleted
    for row in rows:
        row.agent, row.conversation = agent, conversations[row.conversation_id]
        row.conversation.agent = agent
    return [Found(row, excerpt(Messages.text(row), query, LONGEST_SHOWN)) for row in rows]


@login_required
@require_POST
def new(request: Request, agent_id: UUID) -> HttpResponse:
    """Begin a conversation; an empty one that is there already is used again."""
    agent = find_agent(request, agent_id)
    empty = agent.conversations.listed().filter(title="", runs=None).first()
    try:
        conversation = empty or Conversation.create(agent)
    except LimitReached as limit:
        return render(request, "agents/_refusal.html", {"error": str(limit)}, status=429)
    return go_to(request, conversation.get_absolute_url())


def go_to(request: Request, address: str) -> HttpResponse:
    """Lead the page there."""
    return HttpResponseClientRedirect(address) if request.htmx else redirect(address)


@login_required
@require_POST
def rename(request: Request, agent_id: UUID, conversation_id: UUID) -> HttpResponse:
    """Give a conversation another title. POST: `title`."""
    conversation = find_conversation(request, agent_id, conversation_id)
    try:
        conversation.configure(title=storable(" ".join(request.POST.get("title", "").split())))
    except ValidationError as error:
        context = {"error": " ".join(error.messages)}
        return render(request, "agents/_refusal.html", context, status=422)
    return done(request, conversation)


@login_required
@require_POST
def archive(request: Request, agent_id: UUID, conversation_id: UUID) -> HttpResponse:
    """Take a conversation out of the list, or with `restore` put it back."""
    conversation = find_conversation(request, agent_id, conversation_id)
    if "restore" in request.POST:
        conversation.unarchive()
        return go_to(request, conversation.get_absolute_url())
    conversation.archive()
    return go_to(request, reverse("conversations", args=[agent_id]))


@login_required
def delete(request: Request, agent_id: UUID, conversation_id: UUID) -> HttpResponse:
    """Ask, then delete for good."""
    conversation = find_conversation(request, agent_id, conversation_id)
    error = ""
    if request.method == "POST":
        try:
            conversation.remove()
            return redirect("conversations", agent_id)
        except ValidationError as refusal:
            error = " ".join(refusal.messages)
    context = {"agent": conversation.agent, "conversation": conversation, "error": error}
    template = "agents/conversations/delete.html"
    return render(request, template, context, status=409 if error else 200)


@login_required
@require_GET
def export(
    request: Request, agent_id: UUID, name: str, conversation_id: UUID | None = None
) -> StreamingHttpResponse:
    """A conversation with what it changed in memory, as a file of one of `FORMS`."""
    conversation = find_conversation(request, agent_id, conversation_id)
    if name not in FORMS:
        raise Http404
    return download_conversation(request, conversation, FORMS[name])
