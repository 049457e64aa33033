"""The pages "Storage" and "Largest agents" of the admin: how much is stored, of what, by whom."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from agents.operations.storage import database_size, largest_agents, stored


@require_GET
def show(request: HttpRequest) -> HttpResponse:
    """Rows and bytes of each kind, its oldest, and how long it is kept."""
    context = {
        **admin.site.each_context(request),
        "title": _("Storage"),
        "kinds": stored(),
        "whole": database_size(),
    }
    return render(request, "admin/storage.html", context)


@require_GET
def agents(request: HttpRequest) -> HttpResponse:
    """The agents that take most, with what is stored of them."""
    context = {
        **admin.site.each_context(request),
        "title": _("Largest agents"),
        "agents": largest_agents(),
    }
    return render(request, "admin/storage_agents.html", context)
