"""The panel beside the conversation: core memory, which is always there, and the other tabs.

A tab is a row of `TABS` and the template `agents/panel/<name>.html`. It is drawn when it is opened,
by `?panel=<name>` with the page or by itself, and drawn anew after the events it names. What its
context function reads from `request.GET` is part of its address.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from agents.models import Conversation, Event
from agents.models.event import snapshot

from . import archival, context, growth, history, tools
from .request import Request, find_conversation

Kind = Event.Kind


@dataclass(frozen=True)
class Tab:
    """A tab: the name in addresses, the title, what it is drawn from, and when it is drawn anew."""

    name: str
    title: str | Promise
    context: Callable[[Request, Conversation], dict[str, Any]]
    kinds: tuple[Event.Kind, ...]
    term: str = ""  # of the glossary, which explains it

    @property
    def template(self) -> str:
        return f"agents/panel/{self.name}.html"


TABS = (
    Tab("context", _("Context"), context.tab, context.KINDS, "context"),
    Tab(
        "archival", _("Archival"), archival.tab, (), "archival memory"
    ),  # its lists follow the log by themselves
    Tab("history", _("History"), history.tab, (Kind.MEMORY_CHANGED,)),
    Tab("growth", _("Over time"), growth.tab, growth.KINDS),
    Tab("tools", _("Tools"), tools.tab, (Kind.AGENT_CHANGED, Kind.STEP_CHANGED)),
)


def panel_context(request: Request, conversation: Conversation) -> dict[str, Any]:
    """What the panel is drawn from with the page: the tabs, and the open one's content."""
    name = request.GET.get("panel", "")
    tab = next((tab for tab in TABS if tab.name == name), None)
    query = request.GET.copy()
    for name in ("panel", "step"):
        query.pop(name, None)
    return {
        "tabs": TABS,
        "open_tab": tab.name if tab else "",
        "open_query": f"?{query.urlencode()}" if tab and query else "",
        "content": render_tab(request, conversation, tab) if tab else "",
    }


def render_tab(request: Request, conversation: Conversation, tab: Tab) -> str:
    return render_to_string(tab.template, tab_context(request, conversation, tab), request)


def tab_context(request: Request, conversation: Conversation, tab: Tab) -> dict[str, Any]:
    shown = {"agent": conversation.agent, "conversation": conversation}
    return {**shown, **tab.context(request, conversation)}


@login_required
@require_GET
def show(
    request: Request, agent_id: UUID, name: str, conversation_id: UUID | None = None
) -> HttpResponse:
    """A tab by itself."""
    tab = next((tab for tab in TABS if tab.name == name), None)
    if tab is None:
        raise Http404
    with snapshot():
        conversation = find_conversation(request, agent_id, conversation_id)
        return render(request, tab.template, tab_context(request, conversation, tab))
