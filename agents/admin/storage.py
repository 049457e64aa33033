"""The page "Storage" of the admin: how much is stored, by kind."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from agents.operations.storage import database_size, stored


@require_GET
def show(request: HttpRequest) -> HttpResponse:
    """Rows and bytes of each kind, its oldest, and how long it is kept."""
    context = {
        **admin.site.each_context(request),
        "title": "Storage",
        "kinds": stored(),
        "whole": database_size(),
    }
    return render(request, "admin/storage.html", context)
