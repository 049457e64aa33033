"""Facts learned from endpoints' refusals, in the admin; delete a row to learn it again."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from agents.models import EndpointFacts

from .shared import ReadOnly


@admin.register(EndpointFacts)
class EndpointFactsAdmin(ReadOnly):
    list_display = ["model", "base_url", "dialect", "window", "updated_at"]
    search_fields = ["base_url", "model"]
    search_help_text = _("An address or a model's name.")

    def has_delete_permission(self, request: HttpRequest, *args: Any) -> bool:
        return admin.ModelAdmin.has_delete_permission(self, request, *args)
