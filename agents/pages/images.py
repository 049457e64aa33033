"""Images of messages: uploaded before a message is sent, and shown in it."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from agents.models import Image

from .request import Request, find_agent

HEADERS = {
    # its address has its SHA-256, so what is there never changes
    "Cache-Control": "private, max-age=31536000, immutable",
    # the browser's own page around an image has a style
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "Content-Disposition": "inline",
    "X-Content-Type-Options": "nosniff",
}


@login_required
@require_POST
def add(request: Request, agent_id: UUID) -> HttpResponse:
    """Take an image for a message that is being written. POST: the file `image`.

    201: its SHA-256, its size in pixels and the address of its thumbnail.
    """
    agent = find_agent(request, agent_id)
    file = request.FILES.get("image")
    try:
        image = Image.add(agent, file.read() if file else b"")
    except ValidationError as error:
        return render(request, "agents/_refusal.html", {"error": error.messages[0]}, status=422)
    shown = {
        "sha256": image.sha256,
        "width": image.width,
        "height": image.height,
        "thumbnail": reverse("image_thumbnail", args=[agent.pk, image.sha256]),
    }
    return JsonResponse(shown, status=201)


@login_required
@require_GET
def show(request: Request, agent_id: UUID, sha256: str) -> HttpResponse:
    """An image of one of the person's agents."""
    return shown(request, agent_id, sha256, "data")


@login_required
@require_GET
def thumbnail(request: Request, agent_id: UUID, sha256: str) -> HttpResponse:
    """The same, at most 320 pixels a side."""
    return shown(request, agent_id, sha256, "thumbnail")


def shown(request: HttpRequest, agent_id: UUID, sha256: str, field: str) -> HttpResponse:
    images = Image.objects.visible_to(request.user).defer(None).only("media_type", field)
    image = get_object_or_404(images, agent=agent_id, sha256=sha256)
    data = bytes(getattr(image, field))
    return HttpResponse(data, content_type=image.media_type, headers=HEADERS)
