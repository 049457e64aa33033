"""Agents: made, changed, deleted, brought back."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from agents.memory.gallery import ASSISTANT, AgentTemplate, templates
from agents.models import Agent, LimitReached

from .forms.agent import AgentForm, NewAgentForm
from .forms.block import BaseNewBlocks, BlockForm, NewBlocks, new_block_form
from .request import Request, find_agent, query_number


@login_required
def new(request: Request) -> HttpResponse:
    """Make an agent; `?template=<one of the gallery>` chooses what it begins as."""
    form = NewAgentForm(
        request.POST or None,
        instance=Agent(owner=request.user),
        initial={"template": request.GET.get("template", "")},
    )
    blocks = new_blocks(request)
    status, limit = 200, ""
    if request.method == "POST":
        status = 422
        if form.is_valid() and blocks.is_valid():
            try:
                return redirect("agent", form.create(request.user, blocks.filled()).pk)
            except LimitReached as reached:
                status, limit = 429, str(reached)
    context = {"form": form, "blocks": blocks, "limit": limit}
    return render(request, "agents/new.html", context, status=status)


def new_blocks(request: Request) -> BaseNewBlocks:
    """The blocks of the form; at first those of the template.

    `is_fresh` tells which of them nobody has changed, so that another template may take them away.
    """
    known = templates()
    asked = request.POST if request.method == "POST" else request.GET
    first = first_blocks(known.get(asked.get("template", "")) or known[ASSISTANT])
    if request.method != "POST":
        return fresh_blocks(first)
    blocks = cast("BaseNewBlocks", NewBlocks(request.POST, prefix="blocks"))
    for form in blocks.forms:
        typed = {
            name: str(form[name].value() or "").replace("\r\n", "\n")
            for name in ("label", "value", "description")
        }
        form.is_fresh = any(typed.items() <= block.items() for block in first)
    return blocks


def fresh_blocks(first: list[dict[str, Any]]) -> BaseNewBlocks:
    """Forms of blocks that nobody has changed yet."""
    blocks = cast("BaseNewBlocks", NewBlocks(prefix="blocks", initial=first))
    for form in blocks.forms:
        form.is_fresh = True
    return blocks


def first_blocks(template: AgentTemplate) -> list[dict[str, Any]]:
    """The blocks that a new agent of a template begins with, as the form's first values."""
    blocks = template.memory().get_blocks()
    return [{name: getattr(block, name) for name in BlockForm.Meta.fields} for block in blocks]


@login_required
@require_GET
def new_first_blocks(request: Request) -> HttpResponse:
    """The first blocks of `?template=<one of the gallery>`, for the form of a new agent."""
    template = templates().get(request.GET.get("template", ""))
    if template is None:
        raise Http404
    context = {"blocks": fresh_blocks(first_blocks(template))}
    return render(request, "agents/blocks/_first_blocks.html", context)


@login_required
@require_GET
def new_block(request: Request) -> HttpResponse:
    """One more empty block for the form of a new agent."""
    number = min(query_number(request, "n"), 50)
    context = {"form": new_block_form(number), "number": number}
    return render(request, "agents/_new_block.html", context)


@login_required
def change(request: Request, agent_id: UUID) -> HttpResponse:
    """An agent's settings."""
    agent = find_agent(request, agent_id)
    form = AgentForm(request.POST or None, instance=agent)
    if request.method == "POST" and form.is_valid():
        find_agent(request, agent_id).configure(**form.changes())
        return redirect("agent", agent.pk)
    context = {"form": form, "agent": agent}
    return render(request, "agents/settings.html", context, status=422 if form.errors else 200)


@login_required
def delete(request: Request, agent_id: UUID) -> HttpResponse:
    """Ask, then delete; the agent can be brought back for 30 days."""
    agent = find_agent(request, agent_id)
    if request.method == "POST":
        agent.trash()
        return redirect("agents_deleted")
    return render(request, "agents/delete.html", {"agent": agent})


@login_required
@require_GET
def deleted(request: Request) -> HttpResponse:
    """Deleted agents that can still be brought back, and those that lists do not show."""
    trashed = Agent.objects.trashed_by(request.user).order_by("-deleted_at")
    hidden = Agent.objects.visible_to(request.user).filter(hidden=True)
    context = {"deleted_agents": trashed, "hidden_agents": hidden}
    return render(request, "agents/deleted.html", context)


@login_required
@require_POST
def restore(request: Request, agent_id: UUID) -> HttpResponse:
    """Bring a deleted agent back."""
    agent = get_object_or_404(Agent.objects.trashed_by(request.user), pk=agent_id)
    agent.restore()
    return redirect("agent", agent.pk)
