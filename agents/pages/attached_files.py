"""Files of messages: uploaded before a message is sent, followed while they become passages."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from agents.attached_files.taking import remove_tagged, take
from agents.models import AttachedFile
from agents.text.stored import translated

from .request import Request, find_agent


@login_required
@require_POST
def add(request: Request, agent_id: UUID) -> HttpResponse:
    """Take a file whose text is to be archival memory. POST: the file `file`.

    201: how far it is, see `shown`; 200 where the same one is there already.
    """
    agent = find_agent(request, agent_id)
    file = request.FILES.get("file")
    name, data = (file.name or "", file.read()) if file else ("", b"")
    try:
        taken, is_new = take(agent, request.user, name, data)
    except ValidationError as error:
        return render(request, "agents/_refusal.html", {"error": error.messages[0]}, status=422)
    return JsonResponse(shown(taken), status=201 if is_new else 200)


def find_file(request: Request, agent_id: UUID, file_id: int) -> AttachedFile:
    agent = find_agent(request, agent_id)
    file: AttachedFile = get_object_or_404(agent.attached_files, pk=file_id)
    file.agent = agent
    return file


@login_required
@require_GET
def show(request: Request, agent_id: UUID, file_id: int) -> HttpResponse:
    """How far a file is."""
    return JsonResponse(shown(find_file(request, agent_id, file_id)))


def shown(file: AttachedFile) -> dict[str, Any]:
    """How far a file is, for the page: what it is called, its status, how many of how many passages
    are stored, why it is not read or what of it has no text, and where to follow and remove it."""
    place = [file.agent_id, file.pk]
    return {
        "id": file.pk,
        "name": file.tag,
        "status": file.status,
        "stored": file.passages,
        "total": file.total,
        "remark": translated(file.error),
        "address": reverse("file", args=place),
        "remove": reverse("file_remove", args=place),
    }


@login_required
@require_POST
def remove(request: Request, agent_id: UUID, file_id: int) -> HttpResponse:
    """Remove a file with its passages, or stop reading it."""
    file = find_file(request, agent_id, file_id)
    remove_tagged(file.agent, file.tag)
    return HttpResponse(status=204)
