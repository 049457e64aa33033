"""The pages that say what went wrong: 403, 404, 409, 500 and 503."""

from __future__ import annotations

import sys

from django.http import HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.translation import gettext
from django.views import defaults

from agents.models.database_errors import CONFLICT, RETRY_SECONDS, is_conflict, unavailable

from .request import Request


def not_found(request: Request, exception: Exception) -> HttpResponse:
    """404, for what is not there and for what is somebody else's."""
    return render(request, "404.html", status=404)


def forbidden(request: Request, exception: Exception) -> HttpResponse:
    """403, for what a person may see and not do."""
    words = str(exception) or gettext("You may not do this.")
    htmx = request.headers.get("HX-Request") == "true"
    template = "agents/_refusal.html" if htmx else "403.html"
    return render(request, template, {"error": words}, status=403)


def csrf_failed(request: Request, reason: str = "") -> HttpResponse:
    """403, for a POST that did not come from a page of this server."""
    return render(request, "403_csrf.html", {"reason": reason}, status=403)


def server_error(request: Request) -> HttpResponse:
    """500; or 503, where the database does not work just now, whoever came upon that; or 409, where
    what was to be changed was deleted or made by somebody else at the same moment."""
    error = sys.exc_info()[1]
    words = unavailable(error) if error else ""
    if error and request.method == "POST" and is_conflict(error):
        words = CONFLICT
    if not words:
        return defaults.server_error(request)
    status, title = 503, gettext("Temporarily unavailable")
    if words == CONFLICT:
        status, title = 409, gettext("Not saved")
    htmx = request.headers.get("HX-Request") == "true"
    template = "agents/_unavailable.html" if htmx else "not_saved.html"
    text = render_to_string(template, {"words": gettext(words), "title": title})
    response = HttpResponse(text, status=status)
    response["Retry-After"] = str(RETRY_SECONDS)
    if htmx:  # beside what is on the page, so that what was typed there stays
        asking, target = request.headers.get("HX-Source"), request.headers.get("HX-Target")
        response["HX-Reswap"] = "afterend" if asking == target else "afterbegin"
    return response
