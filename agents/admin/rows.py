"""Rows that are only looked at, and people."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.http import HttpRequest

from agents.models import (
    Agent,
    Block,
    BlockEdit,
    Event,
    Message,
    Run,
    Step,
)

from .blocks import LedgerColumns
from .shared import PeopleAdmin, ReadOnly, short, what_goes


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


admin.site.unregister(User)


@admin.register(User)
class PersonAdmin(PeopleAdmin):
    """Django's own, but a person's deletion is asked for in numbers."""

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        people = User.objects.filter(pk__in=[person.pk for person in objs])
        return what_goes(
            people, Agent.objects.filter(owner__in=people), Block.objects.filter(owner__in=people)
        )
