"""The audit, in the admin: looked at, searched, and downloaded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.urls import path
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from agents.models import AuditEntry

from .csv_file import csv_file
from .shared import ReadOnly

COLUMNS = ("at", "who", "did", "what", "key", "whose", "address", "more")


class ByPerson(admin.SimpleListFilter):
    """Who did it: those who are in the audit."""

    title = _("person")
    parameter_name = "name"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        names = AuditEntry.objects.order_by("name").values_list("name", flat=True).distinct()
        return [(name, AuditEntry(name=name).who) for name in names[:200]]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[AuditEntry]
    ) -> QuerySet[AuditEntry]:
        return queryset.filter(name=self.value()) if self.value() else queryset


@admin.register(AuditEntry)
class AuditAdmin(ReadOnly):
    """Who did what, the newest first."""

    list_display = ["at", "who", "action", "what", "whose", "address", "more"]
    list_display_links = ["at"]
    list_filter = ["action", ByPerson, "at"]
    list_select_related = ["person"]
    search_fields = ["name", "subject", "=key", "=address", "person__username", "details"]
    search_help_text = _("A name, what it was done to, its key, an address, a word of the details.")
    date_hierarchy = "at"
    fields = ["at", "who", "action", "what", "key", "whose", "address", "more"]
    change_list_template = "admin/audit.html"

    def get_urls(self) -> list[Any]:
        download = self.admin_site.admin_view(self.download)
        return [path("csv/", download, name="audit_csv"), *super().get_urls()]

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Administrators: it says of everybody what they did, and from where."""
        return bool(request.user.is_active and request.user.is_superuser)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def download(self, request: HttpRequest) -> HttpResponseBase:
        """The entries of the list, as it is filtered, as CSV."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        entries = self.get_changelist_instance(request).get_queryset(request)
        return csv_file(request, "audit.csv", COLUMNS, rows(entries))

    @admin.display(description=_("name"), ordering="name")
    def who(self, entry: AuditEntry) -> str:
        return entry.who

    @admin.display(description=pgettext_lazy("column", "what"))
    def what(self, entry: AuditEntry) -> str:
        return entry.what

    @admin.display(description=pgettext_lazy("column", "whose"))
    def whose(self, entry: AuditEntry) -> str:
        return entry.person.get_username() if entry.person else ""

    @admin.display(description=_("details"))
    def more(self, entry: AuditEntry) -> str:
        return entry.more


def rows(entries: QuerySet[AuditEntry]) -> Iterator[list[str]]:
    """The cells of each entry."""
    for entry in entries.select_related("person").iterator(1000):
        whose = entry.person.get_username() if entry.person else ""
        cells = [entry.name, entry.action, entry.what, entry.key, whose, entry.address or ""]
        yield [entry.at.isoformat(timespec="seconds"), *cells, entry.more]
