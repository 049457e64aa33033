"""Quotas in the admin: for one person, a group together, or everybody."""

from __future__ import annotations

from django.contrib import admin
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from agents.models import Quota

from .shared import RowsAdmin


@admin.register(Quota)
class QuotaAdmin(RowsAdmin):
    """What is changed here holds within seconds, also for runs that go on."""

    list_display = [
        *("whose", "messages_a_minute", "runs_at_once", "tokens_a_day", "tokens_a_month"),
        *("dollars_a_day", "dollars_a_month", "storage"),
    ]
    list_select_related = ["user", "group"]
    search_fields = ["user__username", "group__name"]
    autocomplete_fields = ["user", "group"]
    fieldsets = [
        (
            None,
            {
                "fields": ["user", "group"],
                "description": _(
                    "A person's own quota wins over everybody's, field by field; a group's is for"
                    " what its members use together, and holds besides. An empty field is no limit"
                    " of its own, and 0 allows nothing."
                ),
            },
        ),
        (_("At once"), {"fields": ["messages_a_minute", "runs_at_once"]}),
        (
            _("Models"),
            {
                "fields": ["tokens_a_day", "tokens_a_month", "dollars_a_day", "dollars_a_month"],
                "description": _(
                    "Days and months begin at 00:00 UTC. Money is counted of models that have a"
                    " price, and not where people use their own API key."
                ),
            },
        ),
        (_("Storage"), {"fields": ["storage"]}),
    ]

    @admin.display(description=pgettext_lazy("column", "whose"))
    def whose(self, quota: Quota) -> str:
        return str(quota)
