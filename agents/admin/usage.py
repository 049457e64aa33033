"""Usage in the admin: by person, model and day, as a list, two charts and CSV."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import F, QuerySet, Sum
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import path
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from agents.llm.prices import dollars
from agents.models import Usage
from agents.models.quota_words import MICRO
from agents.text.numbers import whole

from .csv_file import csv_file
from .shared import ReadOnly
from .usage_chart import usage_chart

MOST_NAMED = 100  # people, or models, to choose from
MOST_ROWS = 100_000  # of a CSV file; of more, the newest
COLUMNS = (
    *("day", "person", "endpoint", "model", "purpose", "own_key", "calls"),
    *("prompt_tokens", "completion_tokens", "cost_usd"),
)


class MostUsed(admin.SimpleListFilter):
    """By person or model: those that used, or were used, most."""

    field: str

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        took = Sum(F("prompt_tokens") + F("completion_tokens"))
        names = Usage.objects.order_by().values_list(self.field, flat=True)
        most = names.annotate(took=took).order_by("-took")[:MOST_NAMED]
        return [(name, name) for name in most if name]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Usage]) -> QuerySet[Usage]:
        return queryset.filter(**{self.field: self.value()}) if self.value() else queryset


class ByPerson(MostUsed):
    title, parameter_name, field = _("person"), "person", "name"


class ByModel(MostUsed):
    title, parameter_name, field = _("model"), "model", "model"


@admin.register(Usage)
class UsageAdmin(ReadOnly):
    """What everybody's calls of models took."""

    list_display = [
        *("day", "name", "model", "endpoint", "kind", "calls", "sent", "received", "dollars"),
        "own_key",
    ]
    list_filter = [ByPerson, ByModel, "kind", "own_key"]
    search_fields = ["name", "model", "endpoint"]
    search_help_text = _("A person's name, a model or an endpoint.")
    date_hierarchy = "day"
    change_list_template = "admin/usage.html"

    def get_urls(self) -> list[Any]:
        download = self.admin_site.admin_view(self.download)
        return [path("csv/", download, name="usage_csv"), *super().get_urls()]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The list, below charts of the same rows."""
        page = super().changelist_view(request, extra_context)
        if isinstance(page, TemplateResponse) and page.context_data and "cl" in page.context_data:
            usage = page.context_data["cl"].queryset
            page.context_data["charts"] = [
                usage_chart(gettext("Tokens a day by model"), usage, "model"),
                usage_chart(gettext("Tokens a day by person"), usage, "name"),
            ]
        return page

    def download(self, request: HttpRequest) -> HttpResponseBase:
        """The rows of the list, as it is filtered, as CSV."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        usage = self.get_changelist_instance(request).get_queryset(request)
        return csv_file(request, "usage.csv", COLUMNS, cells(usage))

    @admin.display(description=_("tokens sent"), ordering="prompt_tokens")
    def sent(self, usage: Usage) -> str:
        return whole(usage.prompt_tokens)

    @admin.display(description=pgettext_lazy("column", "received"), ordering="completion_tokens")
    def received(self, usage: Usage) -> str:
        return whole(usage.completion_tokens)

    @admin.display(description=_("cost"), ordering="cost")
    def dollars(self, usage: Usage) -> str:
        return dollars(usage.cost / MICRO)


def cells(usage: QuerySet[Usage]) -> Iterator[list[Any]]:
    """The cells of each row."""
    for row in usage[:MOST_ROWS].iterator(1000):
        sums = [row.calls, row.prompt_tokens, row.completion_tokens]
        names = [row.name, row.endpoint, row.model, row.kind]
        yield [row.day.isoformat(), *names, row.own_key, *sums, f"{row.cost / MICRO:.6f}"]
