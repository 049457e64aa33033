"""Archival memory in the admin, stored, changed and deleted with the methods of `Passage`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from agents.models import Editor, MemoryRefusal, Passage
from agents.models.editing import as_sentence
from agents.models.passage import checked_tags, checked_text
from agents.pages.forms.agent import TextAsTyped

from .shared import ByKind, PassagesAdmin, PassagesForm, short, written_by

T = TypeVar("T")


class PassageForm(PassagesForm):
    class Meta:
        model = Passage
        fields = ["agent", "text", "tags"]
        field_classes = {"text": TextAsTyped}

    def clean_text(self) -> str:
        return checked(checked_text, self.cleaned_data["text"])

    def clean_tags(self) -> list[str]:
        return checked(checked_tags, self.cleaned_data["tags"])


def checked(check: Callable[[Any], T], value: Any) -> T:
    """The checked value; a refusal becomes an error of the form."""
    try:
        return check(value)
    except MemoryRefusal as refusal:
        raise ValidationError(as_sentence(str(refusal))) from None


@admin.register(Passage)
class PassageAdmin(PassagesAdmin):
    form = PassageForm
    list_display = ["agent", "beginning", "tags", "who", "recalled_count", "created_at"]
    list_display_links = ["beginning"]
    list_filter = [("editor_kind", ByKind), "created_at"]
    list_select_related = ["agent"]
    search_fields = ["text", "agent__name", "agent__owner__username", "=agent__id"]
    date_hierarchy = "created_at"
    show_full_result_count = False
    ordering = ["-pk"]
    raw_id_fields = ["agent"]
    readonly_fields = ["who", "step", "recalled_count", "recalled_at", "created_at", "updated_at"]

    def get_fields(self, request: HttpRequest, obj: Passage | None = None) -> Any:
        return ["agent", "text", "tags", *(self.readonly_fields if obj else [])]

    def get_readonly_fields(self, request: HttpRequest, obj: Passage | None = None) -> Any:
        return [*self.readonly_fields, *(["agent"] if obj else [])]

    def save_model(self, request: HttpRequest, obj: Passage, form: Any, change: bool) -> None:
        assert request.user.is_authenticated
        by = Editor.person(request.user, Editor.ADMIN)
        if change:
            with suppress(MemoryRefusal):  # somebody deleted it meanwhile
                Passage.objects.get(pk=obj.pk).edit(obj.text, obj.tags, by=by)
        else:
            obj.__dict__.update(Passage.insert(obj.agent, obj.text, obj.tags, by=by).__dict__)

    def delete_model(self, request: HttpRequest, obj: Passage) -> None:
        with suppress(MemoryRefusal):
            obj.remove()

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Passage]) -> None:
        for passage in queryset:
            self.delete_model(request, passage)

    @admin.display(description=_("text"))
    def beginning(self, passage: Passage) -> str:
        return short(passage.text)

    @admin.display(description=_("who"))
    def who(self, passage: Passage) -> str:
        return written_by(passage)
