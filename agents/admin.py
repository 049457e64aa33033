"""Django admin: what an operator looks at and mends, by the same verbs as everyone else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from allauth.account.decorators import secure_admin_login
from django import forms
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import F, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from agents.forms import AgentForm, TextAsTyped
from agents.models import (
    Agent,
    Attachment,
    Block,
    BlockEdit,
    Editor,
    Event,
    Message,
    Run,
    Step,
)

if TYPE_CHECKING:
    AgentsAdmin = admin.ModelAdmin[Agent]
    BlocksAdmin = admin.ModelAdmin[Block]
    RowsAdmin = admin.ModelAdmin[models.Model]
    LedgerTable = admin.TabularInline[BlockEdit, Block]
    BlocksForm = forms.ModelForm[Block]
    LedgerFormSet = forms.BaseInlineFormSet[BlockEdit, Block, forms.ModelForm[BlockEdit]]
    PeopleAdmin = UserAdmin[User]
else:
    AgentsAdmin = BlocksAdmin = RowsAdmin = admin.ModelAdmin
    LedgerTable = admin.TabularInline
    BlocksForm = forms.ModelForm
    LedgerFormSet = forms.BaseInlineFormSet
    PeopleAdmin = UserAdmin

LEDGER_SHOWN = 50  # rows below a block; the rest is a link away

admin.site.site_header = admin.site.site_title = "memoryweb"
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]


# -- what the classes below share ------------------------------------------------------------------


def short(text: str) -> str:
    return Truncator(text).chars(100)


def rows_of(model: type[models.Model], **filters: Any) -> SafeString:
    """A link to the list of rows, filtered."""
    address = reverse(f"admin:agents_{model._meta.model_name}_changelist")
    query = "&".join(f"{name}={value}" for name, value in filters.items())
    return format_html('<a href="{}?{}">{}</a>', address, query, model._meta.verbose_name_plural)


def what_goes(
    *querysets: QuerySet[Any],
) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
    """What a deletion takes with it, as the page that asks for it wants to know: in numbers.

    Django's own would list each message and event by name, and ask for the right to delete each.
    """
    counts = {str(q.model._meta.verbose_name_plural): q.count() for q in querysets}
    named = [str(row) for row in querysets[0][:100]]
    return named, {name: count for name, count in counts.items() if count}, set(), []


class OnlyLookedAt:
    """Rows that nobody makes or changes here; they go when their agent or block goes."""

    def has_add_permission(self, request: HttpRequest, *args: Any) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, *args: Any) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, *args: Any) -> bool:
        return False


class ReadOnly(OnlyLookedAt, RowsAdmin):
    show_full_result_count = False
    list_per_page = 50


# -- agents ----------------------------------------------------------------------------------------


@admin.register(Agent)
class AgentAdmin(AgentsAdmin):
    form = AgentForm
    list_display = [
        *("name", "owner", "model", "memory_class", "message_count", "created_at", "deleted_at")
    ]
    list_filter = [("deleted_at", admin.EmptyFieldListFilter), "memory_class", "model"]
    list_select_related = ["owner"]
    search_fields = ["name", "owner__username", "owner__email", "=id"]
    search_help_text = "An agent's name or id, its owner's name or email."
    date_hierarchy = "created_at"
    show_full_result_count = False
    readonly_fields = ["id", "owner", "memory_class", "core_memory", "records", "message_count"]
    readonly_fields += ["created_at", "updated_at", "deleted_at"]
    fieldsets = [
        (None, {"fields": ["name", "owner", "model", "system_prompt", "tools"]}),
        ("Core memory", {"fields": ["core_memory", "memory_class", "prompt_template"]}),
        ("Limits", {"fields": ["max_steps", "context_window"]}),
        ("Records", {"fields": ["records", "message_count", "id"]}),
        ("When", {"fields": ["created_at", "updated_at", "deleted_at"]}),
    ]
    actions = ["trash", "restore"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """An agent is made on its own page, where one chooses the blocks it begins with."""
        return False

    def save_model(self, request: HttpRequest, obj: Agent, form: Any, change: bool) -> None:
        changes = {name: form.cleaned_data[name] for name in form.changed_data}
        if changes:
            Agent.objects.get(pk=obj.pk).configure(**changes)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        agents = Agent.objects.filter(pk__in=[agent.pk for agent in objs])
        return what_goes(
            agents,
            Message.objects.filter(agent__in=agents),
            Run.objects.filter(agent__in=agents),
            Event.objects.filter(agent__in=agents),
        )

    def delete_model(self, request: HttpRequest, obj: Agent) -> None:
        obj.purge()

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Agent]) -> None:
        for agent in queryset:
            agent.purge()

    @admin.action(description="Delete (recoverable for 30 days)", permissions=["delete"])
    def trash(self, request: HttpRequest, queryset: QuerySet[Agent]) -> None:
        self._each(request, queryset.filter(deleted_at=None), Agent.trash, "deleted")

    @admin.action(description="Restore", permissions=["delete"])
    def restore(self, request: HttpRequest, queryset: QuerySet[Agent]) -> None:
        self._each(request, queryset.exclude(deleted_at=None), Agent.restore, "restored")

    def _each(
        self,
        request: HttpRequest,
        agents: QuerySet[Agent],
        verb: Callable[[Agent], None],
        done: str,
    ) -> None:
        chosen = list(agents)
        for agent in chosen:
            verb(agent)
            self.log_change(request, agent, f"{done.capitalize()}.")
        self.message_user(request, f"{len(chosen)} {done}.")

    @admin.display(description="blocks")
    def core_memory(self, agent: Agent) -> SafeString:
        links = ((link_to(block), short(block.value)) for block in agent.core_memory())
        return format_html_join("", "<p>{}: {}</p>", links) or SafeString("None")

    @admin.display(description="of this agent")
    def records(self, agent: Agent) -> SafeString:
        of_agent, of_run = {"agent__id__exact": agent.pk}, {"run__agent__id__exact": agent.pk}
        links = [rows_of(model, **of_agent) for model in (Message, Run, Event)]
        links.append(rows_of(Step, **of_run))
        return format_html_join(" · ", "{}", ((link,) for link in links))


def link_to(block: Block) -> SafeString:
    address = reverse("admin:agents_block_change", args=[block.pk])
    return format_html('<a href="{}">{}</a>', address, block.label)


# -- blocks and their ledger -----------------------------------------------------------------------


def lines_of(text: str) -> SafeString:
    return SafeString(escape(text).replace("\n", "<br>"))


class LedgerColumns:
    """How an edit is shown."""

    @admin.display(description="who")
    def who(self, edit: BlockEdit) -> str:
        return f"{edit.editor_name} ({edit.editor_kind})"

    @admin.display(description="what changed")
    def change(self, edit: BlockEdit) -> SafeString:
        marks = {"added": "<ins>{}</ins>", "removed": "<del>{}</del>", "same": "{}"}
        pieces = ((marks[piece.kind], lines_of(piece.text)) for piece in edit.pieces())
        return SafeString("".join(format_html(mark, text) for mark, text in pieces))


class LookedAtRows(LedgerFormSet):
    """Rows of which nothing is sent back, so that a form re-shown shows them as they are now."""

    def __init__(self, data: Any = None, files: Any = None, **kwargs: Any) -> None:
        super().__init__(None, None, **kwargs)

    def is_valid(self) -> bool:
        return True

    def save(self, commit: bool = True) -> list[BlockEdit]:
        self.new_objects, self.changed_objects, self.deleted_objects = [], [], []
        return []


class Ledger(LedgerColumns, OnlyLookedAt, LedgerTable):
    model = BlockEdit
    formset = LookedAtRows
    fields = ("version", "who", "created_at", "change")
    readonly_fields = fields
    ordering = ["-version"]
    verbose_name_plural = f"ledger (the last {LEDGER_SHOWN})"
    show_change_link = True
    extra = 0

    def get_queryset(self, request: HttpRequest) -> QuerySet[BlockEdit]:
        newest = F("block__version") - LEDGER_SHOWN
        return super().get_queryset(request).filter(version__gt=newest).select_related("block")


def seen(block: Block) -> str:
    """What tells whether a block was written or configured since a form was opened."""
    return f"{block.version} {block.updated_at.isoformat()}"


class BlockForm(BlocksForm):
    """A block, changed only if it still is what the person saw when the form was opened."""

    seen = forms.CharField(widget=forms.HiddenInput, required=False)

    class Meta:
        model = Block
        fields = ["owner", "label", "description", "value", "limit", "read_only"]
        field_classes = {"value": TextAsTyped}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.instance._state.adding:
            self.initial["seen"] = seen(self.instance)

    def clean(self) -> None:
        """Holds the row until the admin's transaction ends, so that the check stays true."""
        super().clean()
        if self.instance._state.adding:
            return
        now = Block.objects.select_for_update().get(pk=self.instance.pk)
        if self.cleaned_data.get("seen") != seen(now):
            self.data = {name: self.data[name] for name in self.data} | {"seen": seen(now)}
            raise ValidationError(in_between(now))


def in_between(block: Block) -> SafeString:
    """What to tell somebody whose form is older than the block."""
    edit = block.edits.first()
    by = f"last written by {edit.editor_name} ({edit.editor_kind})" if edit else "never written"
    return format_html(
        "The block was changed since you opened it; nothing is saved yet. It is at version {}, {},"
        " with a limit of {}, and its value is now: <pre>{}</pre> Take over what you need of it;"
        " saving again replaces it by what stands below.",
        block.version,
        by,
        f"{block.limit:,}",
        block.value,
    )


@admin.register(Block)
class BlockAdmin(BlocksAdmin):
    form = BlockForm
    list_display = ["label", "owner", "held_by", "characters", "read_only", "version"]
    list_display += ["updated_at"]
    list_filter = ["read_only", "updated_at"]
    list_select_related = ["owner"]
    search_fields = ["label", "value", "description", "owner__username", "agents__name", "=id"]
    search_help_text = "A label, words of the value, an agent's or its owner's name, an id."
    date_hierarchy = "created_at"
    show_full_result_count = False
    raw_id_fields = ["owner"]
    inlines = [Ledger]
    readonly_fields = ["held_by", "whole_ledger", "id", "created_at", "updated_at"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Block]:
        return super().get_queryset(request).prefetch_related("agents")

    def get_fields(self, request: HttpRequest, obj: Block | None = None) -> Any:
        fields = ["owner", "label", "description", "value", "limit", "read_only"]
        if obj is None:
            return fields
        asked = ["seen"] if self.has_change_permission(request, obj) else []
        return [*fields, *asked, *self.readonly_fields]

    def get_readonly_fields(self, request: HttpRequest, obj: Block | None = None) -> Any:
        return [*self.readonly_fields, *(["owner"] if obj else [])]

    def save_model(self, request: HttpRequest, obj: Block, form: Any, change: bool) -> None:
        """By the block's verbs, in the order in which the value fits the limit all the time."""
        if not change:
            obj.save(force_insert=True)
            return
        block = Block.objects.get(pk=obj.pk)
        settings = {
            name: form.cleaned_data[name]
            for name in form.changed_data
            if name not in ("value", "seen")
        }
        grows = settings.get("limit", 0) > block.limit
        if settings and grows:
            block.configure(**settings)
        assert request.user.is_authenticated
        block.set_value(form.cleaned_data["value"], by=Editor.person(request.user, Editor.ADMIN))
        if settings and not grows:
            block.configure(**settings)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        blocks = Block.objects.filter(pk__in=[block.pk for block in objs])
        return what_goes(
            blocks,
            BlockEdit.objects.filter(block__in=blocks),
            Attachment.objects.filter(block__in=blocks),
        )

    def delete_model(self, request: HttpRequest, obj: Block) -> None:
        discard([obj])

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Block]) -> None:
        discard(queryset)

    @admin.display(description="held by")
    def held_by(self, block: Block) -> str:
        return ", ".join(agent.name for agent in block.agents.all()) or "nobody"

    @admin.display(description="characters")
    def characters(self, block: Block) -> str:
        return f"{len(block.value):,} of {block.limit:,}"

    @admin.display(description="whole ledger")
    def whole_ledger(self, block: Block) -> SafeString:
        return rows_of(BlockEdit, block__id__exact=block.pk)


@transaction.atomic
def discard(blocks: Iterable[Block]) -> None:
    """Delete blocks; every agent that held one is told."""
    for block in blocks:
        for agent in block.agents.order_by("pk"):
            agent.detach(block)
        block.delete()


@admin.register(BlockEdit)
class BlockEditAdmin(LedgerColumns, ReadOnly):
    list_display = ["block", "version", "who", "created_at", "step"]
    list_filter = ["editor_kind", "created_at"]
    list_select_related = ["block", "step"]
    search_fields = ["block__label", "editor_name", "after", "=block__id"]
    date_hierarchy = "created_at"
    fields = ["block", "version", "who", "created_at", "change", "before", "after"]
    fields += ["undoes", "user", "step", "tool_call_id"]
    readonly_fields = ["who", "change"]


# -- what was said and done ------------------------------------------------------------------------


@admin.register(Message)
class MessageAdmin(ReadOnly):
    list_display = ["agent", "number", "role", "status", "text", "created_at"]
    list_display_links = ["number"]
    list_filter = ["role", "status", "is_error", "created_at"]
    list_select_related = ["agent"]
    search_fields = ["content", "agent__name", "agent__owner__username", "=agent__id"]
    date_hierarchy = "created_at"
    ordering = ["-pk"]

    @admin.display(description="text")
    def text(self, message: Message) -> str:
        return short(message.content) or ", ".join(call.name for call in message.calls())


@admin.register(Run)
class RunAdmin(ReadOnly):
    list_display = ["id", "agent", "said", "status", "reason", "created_at", "finished_at"]
    list_filter = ["status", "reason", "created_at"]
    list_select_related = ["agent"]
    search_fields = ["text", "error", "agent__name", "agent__owner__username", "=agent__id"]
    date_hierarchy = "created_at"
    ordering = ["-pk"]

    @admin.display(description="message")
    def said(self, run: Run) -> str:
        return short(run.text)


@admin.register(Step)
class StepAdmin(ReadOnly):
    list_display = ["id", "run", "number", "status", "model", "endpoint", "tokens", "started_at"]
    list_filter = ["status", "model", "endpoint"]
    list_select_related = ["run"]
    search_fields = ["error", "outcome", "run__agent__name", "=run__agent__id"]
    date_hierarchy = "started_at"
    ordering = ["-pk"]

    @admin.display(description="tokens in and out")
    def tokens(self, step: Step) -> str:
        if step.prompt_tokens is None:
            return f"about {step.context_tokens:,}"
        return f"{step.prompt_tokens:,} + {step.completion_tokens or 0:,}"


@admin.register(Event)
class EventAdmin(ReadOnly):
    list_display = ["agent", "seq", "kind", "data", "created_at"]
    list_display_links = ["seq"]
    list_filter = ["kind"]
    list_select_related = ["agent"]
    search_fields = ["agent__name", "agent__owner__username", "=agent__id"]
    ordering = ["-pk"]


# -- people ----------------------------------------------------------------------------------------

admin.site.unregister(User)


@admin.register(User)
class PersonAdmin(PeopleAdmin):
    """Django's own, but a person's deletion is asked for in numbers."""

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        people = User.objects.filter(pk__in=[person.pk for person in objs])
        return what_goes(
            people, Agent.objects.filter(owner__in=people), Block.objects.filter(owner__in=people)
        )
