"""Conversations of ChatGPT and Claude, imported into an agent: uploaded, followed, undone."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from agents.models import Agent, HistoryImport
from agents.models.event import snapshot
from agents.models.history_import import LARGEST_FILE, MOST_CHOSEN, PART

from .request import Request, find_agent, query_number

LISTED = 50  # imports
MOST_LISTED = 500  # conversations of an import


@login_required
def index(request: Request, agent_id: UUID) -> HttpResponse:
    """The agent's imports. POST: begin one, of a file `name` of `size` bytes; 201 with the address
    that its parts go to and the one that shows it, 422 where it is refused."""
    agent = find_agent(request, agent_id)
    if request.method == "POST":
        return begin(request, agent)
    context = {
        "agent": agent,
        "imports": agent.history_imports.all()[:LISTED],
        "largest": LARGEST_FILE,
        "part": PART,
    }
    return render(request, "agents/history_imports/index.html", context)


def begin(request: Request, agent: Agent) -> HttpResponse:
    size = request.POST.get("size", "")
    try:
        begun = HistoryImport.begin(
            agent,
            request.user,
            request.POST.get("name", ""),
            int(size) if size.isdecimal() and len(size) < 16 else 0,
        )
    except ValidationError as refusal:
        return refused(request, refusal)
    ids = [agent.pk, begun.pk]
    addresses = {
        "parts": reverse("history_import_part", args=ids),
        "page": reverse("history_import", args=ids),
    }
    return JsonResponse(addresses, status=201)


def refused(request: Request, refusal: ValidationError) -> HttpResponse:
    context = {"error": " ".join(refusal.messages)}
    return render(request, "agents/_refusal.html", context, status=422)


def find_import(request: Request, agent_id: UUID, import_id: int) -> HistoryImport:
    """An import into an agent that the person may edit."""
    agent = find_agent(request, agent_id)
    found: HistoryImport = get_object_or_404(agent.history_imports, pk=import_id)
    found.agent = agent
    return found


@login_required
@require_POST
def part(request: Request, agent_id: UUID, import_id: int) -> HttpResponse:
    """A part of the file from `?start=<byte>` on, as the body."""
    job = find_import(request, agent_id, import_id)
    try:
        job.take(query_number(request, "start"), request.body)
    except ValidationError as refusal:
        return refused(request, refusal)
    return HttpResponse(status=204)


@login_required
@require_GET
def show(request: Request, agent_id: UUID, import_id: int) -> HttpResponse:
    """How far an import is, what came with it and what was left out."""
    with snapshot():
        job = find_import(request, agent_id, import_id)
        context = import_context(job)
        name = "_progress" if request.htmx else "show"
        return render(request, f"agents/history_imports/{name}.html", context)


def import_context(job: HistoryImport) -> dict[str, Any]:
    made = job.made.select_related("conversation") if not job.goes_on else job.made.none()
    return {
        "agent": job.agent,
        "job": job,
        "made": made.order_by("pk")[:MOST_LISTED],
        "left_out": sorted(job.left_out.items(), key=lambda item: -item[1]),
        "most_chosen": MOST_CHOSEN,
    }


@login_required
@require_POST
def store(request: Request, agent_id: UUID, import_id: int) -> HttpResponse:
    """Have the conversations named `conversation` become passages."""
    job = find_import(request, agent_id, import_id)
    keys = []
    for given in request.POST.getlist("conversation"):
        try:
            keys.append(UUID(given))
        except ValueError:
            continue
    try:
        job.choose(keys)
    except ValidationError as refusal:
        return shown_with(request, job, refusal)
    return redirect("history_import", agent_id, import_id)


@login_required
@require_POST
def undo(request: Request, agent_id: UUID, import_id: int) -> HttpResponse:
    """Have all that came with an import deleted."""
    job = find_import(request, agent_id, import_id)
    try:
        job.undo()
    except ValidationError as refusal:
        return shown_with(request, job, refusal)
    return redirect("history_import", agent_id, import_id)


def shown_with(request: Request, job: HistoryImport, refusal: ValidationError) -> HttpResponse:
    context = import_context(job) | {"refusal": " ".join(refusal.messages)}
    return render(request, "agents/history_imports/show.html", context, status=422)
