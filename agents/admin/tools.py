"""Custom tools in the admin; name, description and schema are read from the source."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from agents.models import Tool
from agents.pages.forms.agent import TextAsTyped
from agents.tools.attaching import create, refuse_taken, remove, rewrite, used_by

from .shared import ToolsAdmin, ToolsForm


class ToolForm(ToolsForm):
    class Meta:
        model = Tool
        fields = ["owner", "source", "name", *Tool.SETTINGS]
        field_classes = {"source": TextAsTyped}

    def clean_tags(self) -> Any:
        return self.cleaned_data["tags"] or []

    def clean_metadata(self) -> Any:
        return self.cleaned_data["metadata"] or {}

    def clean_given_schema(self) -> Any:
        return self.cleaned_data["given_schema"] or {}

    def _post_clean(self) -> None:
        """Read the source, then check that no agent that uses the tool has another of that name."""
        super()._post_clean()  # type: ignore[misc]
        old = self.initial.get("name")
        if old and not self.errors and self.instance.name != old:
            users = used_by(self.instance.owner, also_deleted=True).get(old, [])
            try:
                refuse_taken(users, self.instance.name)
            except ValidationError as error:
                self.add_error("source", error)


@admin.register(Tool)
class ToolAdmin(ToolsAdmin):
    form = ToolForm
    list_display = ["name", "owner", "description", "default_requires_approval", "updated_at"]
    list_filter = ["default_requires_approval", "created_at", "updated_at"]
    list_select_related = ["owner"]
    search_fields = ["name", "description", "source", "owner__username", "=id"]
    search_help_text = _("A name, words of the description or source, its owner's name, an id.")
    show_full_result_count = False
    raw_id_fields = ["owner"]
    readonly_fields = ["description", "schema", "id", "created_at", "updated_at"]

    def get_fields(self, request: HttpRequest, obj: Tool | None = None) -> Any:
        return [*ToolForm.Meta.fields, *(self.readonly_fields if obj else [])]

    def get_readonly_fields(self, request: HttpRequest, obj: Tool | None = None) -> Any:
        return [*self.readonly_fields, *(["owner"] if obj else [])]

    def save_model(self, request: HttpRequest, obj: Tool, form: Any, change: bool) -> None:
        """Save with the same functions as the page: agents keep the tool under its new name."""
        fields = {name: form.cleaned_data[name] for name in ("source", "name", *Tool.SETTINGS)}
        if change:
            stored = rewrite(obj, Tool.objects.get(pk=obj.pk).updated_at, **fields)
        else:
            stored = create(obj.owner, **fields)
        obj.__dict__.update(stored.__dict__)

    def delete_model(self, request: HttpRequest, obj: Tool) -> None:
        remove(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Tool]) -> None:
        for tool in queryset:
            remove(tool)

    @admin.display(description=_("schema"))
    def schema(self, tool: Tool) -> SafeString:
        schema = json.dumps(tool.json_schema, indent=2, ensure_ascii=False)
        return format_html("<pre>{}</pre>", schema)
