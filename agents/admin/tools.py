"""Custom tools, in the admin: name, description and schema are read off the source."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from agents.models import Tool
from agents.pages.forms.agent import TextAsTyped

from .shared import ToolsAdmin, ToolsForm


class ToolForm(ToolsForm):
    class Meta:
        model = Tool
        fields = ["owner", "source", "name", *Tool.SETTINGS]
        field_classes = {"source": TextAsTyped}

    def clean_tags(self) -> Any:
        return self.cleaned_data["tags"] or []


@admin.register(Tool)
class ToolAdmin(ToolsAdmin):
    form = ToolForm
    list_display = ["name", "owner", "description", "default_requires_approval", "updated_at"]
    list_filter = ["default_requires_approval", "created_at", "updated_at"]
    list_select_related = ["owner"]
    search_fields = ["name", "description", "source", "owner__username", "=id"]
    search_help_text = "A name, words of the description or source, its owner's name, an id."
    show_full_result_count = False
    raw_id_fields = ["owner"]
    readonly_fields = ["description", "schema", "id", "created_at", "updated_at"]

    def get_fields(self, request: HttpRequest, obj: Tool | None = None) -> Any:
        return [*ToolForm.Meta.fields, *(self.readonly_fields if obj else [])]

    def get_readonly_fields(self, request: HttpRequest, obj: Tool | None = None) -> Any:
        return [*self.readonly_fields, *(["owner"] if obj else [])]

    @admin.display(description="schema")
    def schema(self, tool: Tool) -> SafeString:
        written = json.dumps(tool.json_schema, indent=2, ensure_ascii=False)
        return format_html("<pre>{}</pre>", written)
