"""What the pages of the admin share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import User
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import pgettext_lazy

from agents.models import (
    Agent,
    Announcement,
    Block,
    BlockEdit,
    Editor,
    EndpointModel,
    Invitation,
    ModelEndpoint,
    Passage,
    Tool,
)
from agents.text.stored import translated

from .audited import Audited

if TYPE_CHECKING:
    AgentsAdmin = admin.ModelAdmin[Agent]
    BlocksAdmin = admin.ModelAdmin[Block]
    PassagesAdmin = admin.ModelAdmin[Passage]
    ToolsAdmin = admin.ModelAdmin[Tool]
    RowsAdmin = admin.ModelAdmin[models.Model]
    LedgerTable = admin.TabularInline[BlockEdit, Block]
    BlocksForm = forms.ModelForm[Block]
    PassagesForm = forms.ModelForm[Passage]
    ToolsForm = forms.ModelForm[Tool]
    LedgerFormSet = forms.BaseInlineFormSet[BlockEdit, Block, forms.ModelForm[BlockEdit]]
    PeopleAdmin = UserAdmin[User]
    GroupsAdmin = GroupAdmin
    InvitationsAdmin = admin.ModelAdmin[Invitation]
    AnnouncementsAdmin = admin.ModelAdmin[Announcement]
    EndpointsAdmin = admin.ModelAdmin[ModelEndpoint]
    EndpointsForm = forms.ModelForm[ModelEndpoint]
    EndpointModelsTable = admin.TabularInline[EndpointModel, ModelEndpoint]
else:

    class RowsAdmin(Audited, admin.ModelAdmin):
        """All pages of rows that can be changed."""

    class PeopleAdmin(Audited, UserAdmin):
        """That of people."""

    class GroupsAdmin(Audited, GroupAdmin):
        """That of groups."""

    AgentsAdmin = BlocksAdmin = PassagesAdmin = ToolsAdmin = RowsAdmin
    InvitationsAdmin = AnnouncementsAdmin = EndpointsAdmin = RowsAdmin
    LedgerTable = EndpointModelsTable = admin.TabularInline
    BlocksForm = PassagesForm = ToolsForm = EndpointsForm = forms.ModelForm
    LedgerFormSet = forms.BaseInlineFormSet


# Who may have written a block or a passage, or from where, by what is stored of them.
KINDS: dict[str, Any] = {
    Editor.AGENT: pgettext_lazy("editor", "agent"),
    Editor.PERSON: pgettext_lazy("editor", "person"),
    Editor.ADMIN: pgettext_lazy("editor", "admin"),
    Editor.API: pgettext_lazy("editor", "api"),
    Editor.IMPORT: pgettext_lazy("editor", "import"),
}


class ByKind(admin.AllValuesFieldListFilter):
    """By who wrote it, in words."""

    def choices(self, changelist: Any) -> Iterator[Any]:
        for choice in super().choices(changelist):
            kind = str(choice["display"])
            yield choice | {"display": str(KINDS.get(kind, kind))}


def written_by(row: BlockEdit | Passage) -> str:
    """Who wrote it, and of which kind they are."""
    kind = row.editor_kind
    return f"{row.editor_name} ({KINDS.get(kind, kind)})"


def short(text: str) -> str:
    return Truncator(text).chars(100)


def rows_of(model: type[models.Model], **filters: Any) -> SafeString:
    """A link to the list of rows, filtered."""
    address = reverse(f"admin:agents_{model._meta.model_name}_changelist")
    query = "&".join(f"{name}={value}" for name, value in filters.items())
    return format_html('<a href="{}?{}">{}</a>', address, query, model._meta.verbose_name_plural)


def link_to(block: Block) -> SafeString:
    address = reverse("admin:agents_block_change", args=[block.pk])
    return format_html('<a href="{}">{}</a>', address, block.label)


def deleted_with(
    *querysets: QuerySet[Any],
) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
    """What is deleted with these rows, in numbers, for the page that asks for confirmation.

    Django's own list would name each message and event, and check the permission for each.
    """
    counts = {str(q.model._meta.verbose_name_plural): q.count() for q in querysets}
    names = [str(row) for row in querysets[0][:100]]
    return names, {name: count for name, count in counts.items() if count}, set(), []


class ReadOnlyPermissions:
    """Rows that cannot be changed here; they are deleted with their agent or block."""

    def has_add_permission(self, request: HttpRequest, *args: Any) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, *args: Any) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, *args: Any) -> bool:
        return False


class ReadOnly(ReadOnlyPermissions, RowsAdmin):
    show_full_result_count = False
    list_per_page = 50
    sentences: tuple[str, ...] = ()  # fields with some that are stored in English

    def get_object(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return self.in_words(super().get_object(request, *args, **kwargs))

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        changelist = super().get_changelist_instance(request)
        if self.sentences:
            for row in changelist.result_list:
                self.in_words(row)
        return changelist

    def in_words(self, row: Any) -> Any:
        """A row that is shown and not saved, with its sentences in the language of the page."""
        for name in self.sentences if row else ():
            setattr(row, name, translated(getattr(row, name)))
        return row

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """All rows but those of temporary chats, which nobody else sees."""
        rows: QuerySet[Any] = super().get_queryset(request)
        way = way_to_agent(rows.model)
        return rows.filter(**{f"{way}__temporary_for": None}) if way else rows


def way_to_agent(model: type[models.Model]) -> str:
    """The lookup that leads from a row to its agent; "" where there is none."""
    ways = {"agent": "", "run": "__agent", "conversation": "__agent", "step": "__run__agent"}
    fields = {field.name for field in model._meta.concrete_fields if not field.null}
    return next((name + rest for name, rest in ways.items() if name in fields), "")
