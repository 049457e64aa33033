"""Rows that are read only."""

from __future__ import annotations

from math import ceil

from django.contrib import admin
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from agents.memory.sent_requests import sent
from agents.models import (
    Approval,
    BlockEdit,
    BlockShare,
    Compaction,
    Conversation,
    Event,
    Identity,
    Message,
    RequestText,
    Schedule,
    Step,
)
from agents.text.numbers import whole

from .blocks import LedgerColumns
from .shared import ByKind, ReadOnly, short


@admin.register(BlockEdit)
class BlockEditAdmin(LedgerColumns, ReadOnly):
    list_display = ["block", "version", "who", "created_at", "step"]
    list_filter = [("editor_kind", ByKind), "created_at"]
    list_select_related = ["block", "step"]
    search_fields = ["block__label", "editor_name", "after", "=block__id"]
    date_hierarchy = "created_at"
    fields = ["block", "version", "who", "created_at", "change", "before", "after"]
    fields += ["undoes", "user", "step", "tool_call_id"]
    readonly_fields = ["who", "change"]


@admin.register(Message)
class MessageAdmin(ReadOnly):
    list_display = ["agent", "number", "role", "status", "text", "created_at"]
    list_display_links = ["number"]
    list_filter = ["role", "status", "is_error", "created_at"]
    list_select_related = ["agent"]
    search_fields = ["content", "agent__name", "agent__owner__username", "=agent__id"]
    date_hierarchy = "created_at"
    ordering = ["-pk"]

    @admin.display(description=_("text"))
    def text(self, message: Message) -> str:
        return short(message.words) or ", ".join(call.name for call in message.calls())


@admin.register(Conversation)
class ConversationAdmin(ReadOnly):
    list_display = ["agent", "title", "created_at", "last_message_at", "archived_at"]
    list_select_related = ["agent"]
    search_fields = ["title", "agent__name", "agent__owner__username", "=agent__id"]
    search_help_text = _("Words of the title, the agent's name or id, its owner's name.")


@admin.register(Schedule)
class ScheduleAdmin(ReadOnly):
    sentences = ("error",)
    list_display = ["agent", "when", "next_at", "text", "last_run", "error"]
    list_filter = ["next_at"]
    list_select_related = ["agent", "last_run"]
    search_fields = ["agent__name", "agent__owner__username", "=agent__id"]


@admin.register(Step)
class StepAdmin(ReadOnly):
    sentences = ("error", "outcome")
    list_display = ["id", "run", "number", "status", "model", "endpoint", "tokens", "started_at"]
    list_filter = ["status", "model", "endpoint"]
    list_select_related = ["run"]
    search_fields = ["error", "outcome", "run__agent__name", "=run__agent__id"]
    date_hierarchy = "started_at"
    ordering = ["-pk"]
    readonly_fields = ["proof"]

    @admin.display(description=_("the request, put together again"))
    def proof(self, step: Step) -> str:
        request = sent(step)
        if step.request_removed_after:
            days = step.request_removed_after
            words = ngettext(
                "It was removed after %(count)s day.",
                "It was removed after %(count)s days.",
                ceil(days),
            )
            return words % {"count": f"{days:g}"}
        if request is None:
            return gettext("It was not kept.")
        if request.proven:
            return gettext("This is exactly what was sent: its SHA-256 is the one that was stored.")
        return gettext(
            "This is not what was sent: its SHA-256 differs from the one that was stored."
        )

    @admin.display(description=_("tokens sent and received"))
    def tokens(self, step: Step) -> str:
        if step.prompt_tokens is None:
            return gettext("about %(count)s") % {"count": whole(step.context_tokens)}
        return f"{whole(step.prompt_tokens)} + {whole(step.completion_tokens or 0)}"


@admin.register(Compaction)
class CompactionAdmin(ReadOnly):
    sentences = ("error",)
    list_display = [
        *("id", "conversation", "first", "last", "tokens_before", "tokens_after", "written_by")
    ]
    list_display += ["created_at"]
    list_filter = ["written_by", "created_at"]
    list_select_related = ["conversation"]
    search_fields = [
        *("summary", "conversation__title", "conversation__agent__name"),
        "=conversation__agent__id",
    ]
    date_hierarchy = "created_at"
    ordering = ["-pk"]


@admin.register(Approval)
class ApprovalAdmin(ReadOnly):
    sentences = ("why",)
    list_display = ["id", "step", "why", "status", "decided_by", "created_at", "expires_at"]
    list_filter = ["status", "created_at"]
    list_select_related = ["step", "decided_by"]
    search_fields = ["why", "reason", "step__run__agent__name", "=step__run__agent__id"]
    date_hierarchy = "created_at"
    ordering = ["-pk"]


@admin.register(BlockShare)
class BlockShareAdmin(ReadOnly):
    list_display = ["block", "owner", "user", "can_write", "created_at"]
    list_filter = ["can_write", "created_at"]
    list_select_related = ["block__owner", "user"]
    search_fields = ["block__label", "block__owner__username", "user__username", "=block__id"]
    date_hierarchy = "created_at"

    @admin.display(description=_("owner"))
    def owner(self, share: BlockShare) -> str:
        return share.block.owner.get_username()


@admin.register(Identity)
class IdentityAdmin(ReadOnly):
    list_display = ["name", "owner", "identity_type", "identifier_key", "created_at"]
    list_filter = ["identity_type", "created_at"]
    list_select_related = ["owner"]
    search_fields = ["name", "identifier_key", "owner__username", "=id"]


@admin.register(RequestText)
class RequestTextAdmin(ReadOnly):
    list_display = ["agent", "sha256", "beginning"]
    list_display_links = ["sha256"]
    list_select_related = ["agent"]
    search_fields = ["agent__name", "=agent__id", "=sha256"]
    ordering = ["-pk"]

    @admin.display(description=_("text"))
    def beginning(self, row: RequestText) -> str:
        return short(row.text)


@admin.register(Event)
class EventAdmin(ReadOnly):
    list_display = ["agent", "seq", "kind", "data", "created_at"]
    list_display_links = ["seq"]
    list_filter = ["kind"]
    list_select_related = ["agent"]
    search_fields = ["agent__name", "agent__owner__username", "=agent__id"]
    ordering = ["-pk"]
