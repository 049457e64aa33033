"""Agents, in the admin."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_noop, ngettext_lazy, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from agents.models import Agent, Compaction, Event, Message, Passage, RequestText, Run, Step
from agents.pages.forms.agent import AgentForm
from agents.text.numbers import whole

from .shared import AgentsAdmin, deleted_with, link_to, rows_of, short

DELETED = gettext_noop("Deleted.")
RESTORED = gettext_noop("Restored.")
SO_MANY = {
    DELETED: ngettext_lazy("%(count)s deleted.", "%(count)s deleted.", "number"),
    RESTORED: ngettext_lazy("%(count)s restored.", "%(count)s restored.", "number"),
}


class ByModel(admin.AllValuesFieldListFilter):
    """An agent without a model of its own is in the list by words."""

    def choices(self, changelist: Any) -> Iterator[Any]:
        for choice in super().choices(changelist):
            yield choice | {"display": choice["display"] or gettext("the default model")}


@admin.register(Agent)
class AgentAdmin(AgentsAdmin):
    form = AgentForm
    list_display = [
        *("name", "owner", "model", "memory_class", "message_count", "created_at", "deleted_at")
    ]
    list_filter = [("deleted_at", admin.EmptyFieldListFilter), "memory_class", ("model", ByModel)]
    list_select_related = ["owner"]
    search_fields = ["name", "owner__username", "owner__email", "=id"]
    search_help_text = _("An agent's name or id, its owner's name or email.")
    date_hierarchy = "created_at"
    show_full_result_count = False
    readonly_fields = ["id", "owner", "memory_class", "core_memory", "records", "message_count"]
    readonly_fields += ["passage_count", "bytes_per_token"]
    readonly_fields += Agent.BY_SCRIPTS
    readonly_fields += ["created_at", "updated_at", "deleted_at"]
    fieldsets = [
        (None, {"fields": ["name", "owner", "model", "system_prompt", "tools", "tool_rules"]}),
        (_("Core memory"), {"fields": ["core_memory", "memory_class", "prompt_template"]}),
        (_("Reflection"), {"fields": ["reflect_every"]}),
        (_("Limits"), {"fields": ["max_steps", "context_window", "bytes_per_token"]}),
        (
            _("Context"),
            {"fields": ["message_buffer_autoclear", "model_settings", "timezone", "hidden"]},
        ),
        (_("By scripts"), {"fields": Agent.BY_SCRIPTS}),
        (_("Records"), {"fields": ["records", "message_count", "passage_count", "id"]}),
        (_("When"), {"fields": ["created_at", "updated_at", "deleted_at"]}),
    ]
    actions = ["trash", "restore"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Agents are created on their own page, where one chooses their first blocks."""
        return False

    def save_model(self, request: HttpRequest, obj: Agent, form: Any, change: bool) -> None:
        Agent.objects.get(pk=obj.pk).configure(**form.changes())

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        agents = Agent.objects.filter(pk__in=[agent.pk for agent in objs])
        return deleted_with(
            agents,
            Message.objects.filter(agent__in=agents),
            Passage.objects.filter(agent__in=agents),
            Run.objects.filter(agent__in=agents),
            Event.objects.filter(agent__in=agents),
        )

    def delete_model(self, request: HttpRequest, obj: Agent) -> None:
        obj.purge()

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Agent]) -> None:
        for agent in queryset:
            agent.purge()

    @admin.action(description=_("Delete (recoverable for 30 days)"), permissions=["delete"])
    def trash(self, request: HttpRequest, queryset: QuerySet[Agent]) -> None:
        self._apply(request, queryset.filter(deleted_at=None), Agent.trash, DELETED)

    @admin.action(description=_("Restore"), permissions=["delete"])
    def restore(self, request: HttpRequest, queryset: QuerySet[Agent]) -> None:
        self._apply(request, queryset.exclude(deleted_at=None), Agent.restore, RESTORED)

    def _apply(
        self,
        request: HttpRequest,
        agents: QuerySet[Agent],
        method: Callable[[Agent], None],
        done: str,
    ) -> None:
        chosen = list(agents)
        for agent in chosen:
            method(agent)
            self.log_change(request, agent, done)
        number = len(chosen)
        self.message_user(request, SO_MANY[done] % {"number": number, "count": whole(number)})

    @admin.display(description=pgettext_lazy("column", "blocks"))
    def core_memory(self, agent: Agent) -> SafeString:
        links = ((link_to(block), short(block.value)) for block in agent.core_memory())
        return format_html_join("", "<p>{}: {}</p>", links) or SafeString(gettext("None"))

    @admin.display(description=_("rows of this agent"))
    def records(self, agent: Agent) -> SafeString:
        of_agent, of_run = {"agent__id__exact": agent.pk}, {"run__agent__id__exact": agent.pk}
        links = [rows_of(model, **of_agent) for model in (Message, Run, Event)]
        links += [rows_of(model, **of_agent) for model in (Passage, Compaction, RequestText)]
        links.append(rows_of(Step, **of_run))
        return format_html_join(" · ", "{}", ((link,) for link in links))
