"""Runs in the admin: those that go on, with what can be done about them; and all that ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.contrib.humanize.templatetags.humanize import naturaltime
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from agents.models import AuditEntry, Run
from agents.runs import engine

from .shared import ReadOnly, short

Status = Run.Status
STUCK = "stuck"
# What a run is doing, of a run of any status; the one that is not a status is found by its lease.
STATES = {
    Status.QUEUED: gettext_noop("queued"),
    Status.RUNNING: gettext_noop("running"),
    Status.WAITING: gettext_noop("waits for a person or a script"),
    Status.DONE: gettext_noop("done"),
    Status.STOPPED: gettext_noop("stopped"),
    Status.FAILED: gettext_noop("failed"),
    STUCK: gettext_noop("stuck"),
}
STOPPED = gettext_noop(
    "Run %(run)s of %(agent)s is asked to stop; whoever works on it ends it within seconds."
)
STOPPED_STUCK = gettext_noop(
    "Run %(run)s of %(agent)s is asked to stop. Nobody worked on it; a worker takes it up now, to"
    " end it."
)
NOT_STOPPED = {
    Status.QUEUED: gettext_noop(
        "Run %(run)s of %(agent)s was not stopped: it waits behind another one, which can be"
        " stopped."
    ),
    "asked": gettext_noop("Run %(run)s of %(agent)s was asked to stop before."),
    "ended": gettext_noop("Run %(run)s of %(agent)s had ended already."),
}
RETRIED = gettext_noop("Run %(run)s of %(agent)s goes on where it failed.")
HANDED_OVER = gettext_noop("Run %(run)s of %(agent)s was stuck, and is handed to a worker.")
NOT_RETRIED = {
    Status.FAILED: gettext_noop(
        "Run %(run)s of %(agent)s was not retried: more was said in its conversation since."
    ),
    "other": gettext_noop(
        "Run %(run)s of %(agent)s was not retried: it neither failed nor is it stuck."
    ),
}


class GoingOn(admin.SimpleListFilter):
    """Those that have not ended, by what they do now."""

    title = _("what goes on")
    parameter_name = "now"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("any", gettext("all that has not ended")),
            *((each, gettext(STATES[each])) for each in Run.ACTIVE),
            (Status.QUEUED, gettext(STATES[Status.QUEUED])),
            (STUCK, gettext("stuck: no sign of life")),
        ]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        chosen = self.value()
        if chosen == STUCK:
            return queryset.stuck()
        if chosen == "any":
            return queryset.unended()
        return queryset.filter(status=chosen) if chosen else queryset


@admin.register(Run)
class RunAdmin(ReadOnly):
    list_display = ["id", "agent", "kind", "message", "status", "reason"]
    list_display += ["created_at", "finished_at"]
    going_on = ["id", "agent", "owner", "state", "activity", "age", "last_sign", "steps_taken"]
    list_filter = [GoingOn, "kind", "status", "reason", "created_at"]
    list_select_related = ["agent__owner"]
    search_fields = ["text", "error", "agent__name", "agent__owner__username", "=agent__id"]
    date_hierarchy = "created_at"
    ordering = ["-pk"]
    actions = ["stop", "retry"]
    sentences = ("activity", "error")

    def get_list_display(self, request: HttpRequest) -> Any:
        """Of those that go on, how they do, and not what was said."""
        return self.going_on if GoingOn.parameter_name in request.GET else self.list_display

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)
        if GoingOn.parameter_name in request.GET:
            rows = rows.annotate(step_count=Count("steps"))
        return rows

    def has_operate_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("agents.change_run")

    @admin.action(description=_("Stop"), permissions=["operate"])
    def stop(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        self._act(request, queryset, stop, AuditEntry.Action.RUN_STOPPED)

    @admin.action(description=_("Retry what failed, or is stuck"), permissions=["operate"])
    def retry(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        self._act(request, queryset, retry, AuditEntry.Action.RUN_RETRIED)

    def _act(
        self,
        request: HttpRequest,
        runs: QuerySet[Run],
        act: Callable[[Run], tuple[bool, str]],
        action: AuditEntry.Action,
    ) -> None:
        """Do it to each, say what came of it, and note what was done."""
        for run in runs.order_by("pk"):
            done, words = act(run)
            if done:
                AuditEntry.record(action, run, person=run.agent.owner)
            level = messages.SUCCESS if done else messages.WARNING
            named = {"run": run.pk, "agent": str(run.agent)}
            self.message_user(request, gettext(words) % named, level)

    @admin.display(description=_("message"))
    def message(self, run: Run) -> str:
        return short(run.words)

    @admin.display(description=_("owner"), ordering="agent__owner__username")
    def owner(self, run: Run) -> str:
        return run.agent.owner.get_username()

    @admin.display(description=_("status"), ordering="status")
    def state(self, run: Run) -> str:
        return gettext(STATES[STUCK if run.is_stuck() else Status(run.status)])

    @admin.display(description=_("age"), ordering="created_at")
    def age(self, run: Run) -> str:
        return timesince(run.created_at, run.finished_at or timezone.now())

    @admin.display(description=_("worker's last sign"), ordering="seen_at")
    def last_sign(self, run: Run) -> str:
        return naturaltime(run.seen_at) if run.seen_at else gettext("no worker has it")

    @admin.display(description=_("steps"), ordering="step_count")
    def steps_taken(self, run: Run) -> int:
        return int(run.step_count)  # type: ignore[attr-defined]


def stop(run: Run) -> tuple[bool, str]:
    """Stop a run; whether that was done, and what came of it."""
    if run.status not in Run.ACTIVE:
        return False, NOT_STOPPED.get(run.status, NOT_STOPPED["ended"])
    stuck = run.is_stuck()
    if run.stop_requested and not stuck:
        return False, NOT_STOPPED["asked"]
    run.stop()
    if stuck and engine.hand_over(Run.objects.filter(pk=run.pk).stuck()):
        return True, STOPPED_STUCK
    return True, STOPPED


def retry(run: Run) -> tuple[bool, str]:
    """Go on with a run that failed, or on which nobody works although somebody should."""
    if engine.hand_over(Run.objects.filter(pk=run.pk).stuck()):
        return True, HANDED_OVER
    if run.status == Status.FAILED and run.retry():
        return True, RETRIED
    return False, NOT_RETRIED.get(run.status, NOT_RETRIED["other"])
