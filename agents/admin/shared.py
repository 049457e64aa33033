"""What the pages of the admin share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from agents.models import Agent, Block, BlockEdit, Invitation, Passage, Tool

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
    InvitationsAdmin = admin.ModelAdmin[Invitation]
else:
    AgentsAdmin = BlocksAdmin = PassagesAdmin = ToolsAdmin = RowsAdmin = admin.ModelAdmin
    InvitationsAdmin = admin.ModelAdmin
    LedgerTable = admin.TabularInline
    BlocksForm = PassagesForm = ToolsForm = forms.ModelForm
    LedgerFormSet = forms.BaseInlineFormSet
    PeopleAdmin = UserAdmin


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
