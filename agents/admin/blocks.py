"""Blocks and their ledgers in the admin, edited with the blocks' own methods."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import F, QuerySet
from django.http import HttpRequest
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString
from django.utils.text import format_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agents.models import Attachment, Block, BlockEdit, BlockShare, Editor, MemoryRefusal
from agents.pages.forms.agent import TextAsTyped
from agents.pages.forms.block import SETTINGS, SchemaField
from agents.text.numbers import whole

from .shared import (
    BlocksAdmin,
    BlocksForm,
    LedgerFormSet,
    LedgerTable,
    ReadOnlyPermissions,
    deleted_with,
    rows_of,
    written_by,
)

LEDGER_SHOWN = 50  # rows below a block; a link leads to all of them


def lines_of(text: str) -> SafeString:
    return SafeString(escape(text).replace("\n", "<br>"))


class LedgerColumns:
    """How an edit is shown."""

    @admin.display(description=_("who"))
    def who(self, edit: BlockEdit) -> str:
        return written_by(edit)

    @admin.display(description=_("what changed"))
    def change(self, edit: BlockEdit) -> SafeString:
        marks = {"added": "<ins>{}</ins>", "removed": "<del>{}</del>", "same": "{}"}
        parts = ((marks[part.kind], lines_of(part.text)) for part in edit.pieces())
        return SafeString("".join(format_html(mark, text) for mark, text in parts))


class ReadOnlyRows(LedgerFormSet):
    """Rows that a form does not send back, so a form shown again has them as they are now."""

    def __init__(self, data: Any = None, files: Any = None, **kwargs: Any) -> None:
        super().__init__(None, None, **kwargs)

    def is_valid(self) -> bool:
        return True

    def save(self, commit: bool = True) -> list[BlockEdit]:
        self.new_objects, self.changed_objects, self.deleted_objects = [], [], []
        return []


class Ledger(LedgerColumns, ReadOnlyPermissions, LedgerTable):
    model = BlockEdit
    formset = ReadOnlyRows
    fields = ("version", "who", "created_at", "change")
    readonly_fields = fields
    ordering = ["-version"]
    verbose_name_plural = format_lazy(_("history (the last {count} edits)"), count=LEDGER_SHOWN)
    show_change_link = True
    extra = 0

    def get_queryset(self, request: HttpRequest) -> QuerySet[BlockEdit]:
        newest = F("block__version") - LEDGER_SHOWN
        return super().get_queryset(request).filter(version__gt=newest).select_related("block")


def state_of(block: Block) -> str:
    """Differs after any edit of a block's value or settings."""
    return f"{block.version} {block.updated_at.isoformat()}"


class BlockForm(BlocksForm):
    """A block, which is only saved if nobody changed it since the form was opened."""

    seen = forms.CharField(widget=forms.HiddenInput, required=False)

    class Meta:
        model = Block
        fields = ["owner", "label", "description", "value", *SETTINGS]
        field_classes = {"value": TextAsTyped, "schema": SchemaField}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.instance._state.adding:
            self.initial["seen"] = state_of(self.instance)

    def clean(self) -> None:
        """Locks the row until the admin's transaction ends, so that the check stays true."""
        super().clean()
        if self.instance._state.adding:
            return
        current = Block(pk=self.instance.pk, label=self.instance.label)
        try:
            current.lock()
        except MemoryRefusal as refusal:
            raise ValidationError(str(refusal)) from None
        if self.cleaned_data.get("seen") != state_of(current):
            self.data = {name: self.data[name] for name in self.data}
            self.data["seen"] = state_of(current)
            raise ValidationError(changed_since(current))


def changed_since(block: Block) -> SafeString:
    """The error for a form that is older than the block."""
    edit = block.edits.first()
    if edit:
        words = gettext(
            "The block was changed since you opened it; nothing is saved yet. It is at version"
            " {version}, last written by {editor}, with a limit of {limit}, and its value is now:"
            " <pre>{value}</pre> Copy from it what you need; saving again replaces it with the"
            " value below."
        )
    else:
        words = gettext(
            "The block was changed since you opened it; nothing is saved yet. It is at version"
            " {version}, never written, with a limit of {limit}, and its value is now:"
            " <pre>{value}</pre> Copy from it what you need; saving again replaces it with the"
            " value below."
        )
    editor = written_by(edit) if edit else ""
    limit = whole(block.limit)
    return format_html(words, version=block.version, editor=editor, limit=limit, value=block.value)


@admin.register(Block)
class BlockAdmin(BlocksAdmin):
    form = BlockForm
    list_display = ["label", "owner", "held_by", "characters", "kind", "read_only"]
    list_display += ["ask_before_write", "version", "updated_at"]
    list_filter = ["kind", "read_only", "ask_before_write", "updated_at"]
    list_select_related = ["owner"]
    search_fields = ["label", "value", "description", "owner__username", "agents__name", "=id"]
    search_help_text = _("A label, words of the value, an agent's or its owner's name, an id.")
    date_hierarchy = "created_at"
    show_full_result_count = False
    raw_id_fields = ["owner"]
    inlines = [Ledger]
    readonly_fields = ["held_by", "shared_with", "whole_ledger", *Block.BY_SCRIPTS]
    readonly_fields += ["id", "created_at", "updated_at"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Block]:
        return super().get_queryset(request).prefetch_related("agents")

    def get_fields(self, request: HttpRequest, obj: Block | None = None) -> Any:
        fields = ["owner", "label", "description", "value", *SETTINGS]
        if obj is None:
            return fields
        asked = ["seen"] if self.has_change_permission(request, obj) else []
        return [*fields, *asked, *self.readonly_fields]

    def get_readonly_fields(self, request: HttpRequest, obj: Block | None = None) -> Any:
        return [*self.readonly_fields, *(["owner"] if obj else [])]

    def save_model(self, request: HttpRequest, obj: Block, form: Any, change: bool) -> None:
        """Save with the block's own method, settings and value at once."""
        if not change:
            obj.save(force_insert=True)
            return
        changes = {name: form.cleaned_data[name] for name in form.changed_data if name != "seen"}
        Block.objects.get(pk=obj.pk).configure(by=editor(request), **changes)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        blocks = Block.objects.filter(pk__in=[block.pk for block in objs])
        return deleted_with(
            blocks,
            BlockEdit.objects.filter(block__in=blocks),
            Attachment.objects.filter(block__in=blocks),
            BlockShare.objects.filter(block__in=blocks),
        )

    def delete_model(self, request: HttpRequest, obj: Block) -> None:
        Block.objects.filter(pk=obj.pk).discard(by=editor(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Block]) -> None:
        queryset.discard(by=editor(request))  # type: ignore[attr-defined]

    @admin.display(description=_("held by"))
    def held_by(self, block: Block) -> str:
        return ", ".join(agent.name for agent in block.agents.all()) or gettext("no agent")

    @admin.display(description=_("shared with"))
    def shared_with(self, block: Block) -> SafeString:
        return rows_of(BlockShare, block__id__exact=block.pk)

    @admin.display(description=_("characters"))
    def characters(self, block: Block) -> str:
        counts = {"count": whole(len(block.value)), "limit": whole(block.limit)}
        return gettext("%(count)s of %(limit)s") % counts

    @admin.display(description=_("whole history"))
    def whole_ledger(self, block: Block) -> SafeString:
        return rows_of(BlockEdit, block__id__exact=block.pk)


def editor(request: HttpRequest) -> Editor:
    """The operator, as the author of edits."""
    assert request.user.is_authenticated
    return Editor.person(request.user, Editor.ADMIN)
