"""The first page of the admin: how runs end, what they take, and which of them need somebody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from typing import Any, NamedTuple

from django.contrib import admin
from django.db.models import Case, Count, IntegerField, When
from django.db.models.functions import Left
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET

from agents.models import Run, Usage
from agents.models.usage import today
from agents.text.numbers import whole

from .chart import Chart, Measure, Series, days_until, draw, most_first
from .runs import STUCK
from .usage_chart import COST, TOKENS, used

DAYS = 28
FAILURES = 1_000  # the newest, which are told apart by their errors
ERROR_CHARACTERS = 200  # of an error, by which it is told apart
SHOWN = 10  # errors, and runs that wait
Reason = Run.Reason
# In the order in which they are drawn, one upon the other.
ENDS = (
    *(Reason.ANSWERED, Reason.COMPACTED, Reason.NO_HEARTBEAT, Reason.NO_ROOM),
    *(Reason.CANCELLED, Reason.ERROR, Reason.MAX_STEPS),
)
NO_WORK = (Reason.GIVEN, Reason.FORKED)  # what was written or copied was not run


class Failure(NamedTuple):
    """An error: how many runs it ended, and the newest of them."""

    error: str
    runs: int
    newest: int
    moment: datetime


@require_GET
def show(request: HttpRequest) -> HttpResponse:
    """What an administrator may see of it, above the list of all that is stored."""
    context: dict[str, Any] = {
        **admin.site.each_context(request),
        "title": _("Dashboard"),
        "app_list": admin.site.get_app_list(request),
        "number_of_days": DAYS,
        "most_failures": FAILURES,
        "charts": [],
    }
    days = days_until(today(), DAYS)
    if request.user.has_perm("agents.view_run"):
        counts = runs_by_day(days)
        context["charts"].append(draw(_("Runs by how they ended"), counts, days, Measure(so_many)))
        context |= {"now": states(), "attention": attention(), "failures": failures(days[0])}
    if request.user.has_perm("agents.view_usage"):
        context["charts"] += usage_charts(days)
    return render(request, "admin/dashboard.html", context)


def so_many(runs: int) -> str:
    return ngettext("%(count)s run", "%(count)s runs", runs) % {"count": whole(runs)}


def beginning(day: date) -> datetime:
    """When a day begins, in UTC as all that is counted by day."""
    return datetime.combine(day, time(), UTC)


def runs_by_day(days: Sequence[date]) -> Series:
    """How many runs ended in which way, by the day on which they were accepted."""
    still_open = _("has not ended")
    series: Series = {**{str(reason.label): Counter() for reason in ENDS}, still_open: Counter()}
    runs = Run.objects.filter(created_at__gte=beginning(days[0])).exclude(reason__in=NO_WORK)
    # Compared and not cut off: on SQLite a date is cut off by Python, five times as slowly.
    begun = (When(created_at__gte=beginning(day), then=n) for n, day in enumerate(days))
    day = Case(*reversed(list(begun)), output_field=IntegerField())
    rows = runs.order_by().annotate(day=day).values_list("day", "reason")
    for n, reason, count in rows.annotate(count=Count("pk")):
        series[str(Reason(reason).label) if reason else still_open][days[n]] = count
    return series


def states() -> list[tuple[str, str, int]]:
    """How many runs have not ended, by what they do: the words, the filter of the list, how many"""
    rows = Run.objects.unended().order_by().values_list("status").annotate(count=Count("pk"))
    counts = {**dict(rows), STUCK: Run.objects.stuck().count()}
    return [
        (words, state, counts.get(state, 0))
        for words, state in (
            (_("running"), Run.Status.RUNNING),
            (_("waiting for a person or a script"), Run.Status.WAITING),
            (_("queued"), Run.Status.QUEUED),
            (_("stuck"), STUCK),
        )
    ]


def attention() -> list[Run]:
    """Runs that are stuck, and those that wait for somebody, the longest first."""
    runs = Run.objects.select_related("agent__owner").order_by("seen_at")
    waiting = runs.filter(status=Run.Status.WAITING)
    return [*runs.stuck()[:SHOWN], *waiting[:SHOWN]]


def failures(first: date) -> list[Failure]:
    """The errors that most of the newest failed runs ended with."""
    failed = Run.objects.filter(status=Run.Status.FAILED, created_at__gte=beginning(first))
    rows = failed.order_by("-created_at").annotate(begins=Left("error", ERROR_CHARACTERS))
    found: dict[str, Failure] = {}
    for error, run, moment in rows.values_list("begins", "pk", "created_at")[:FAILURES]:
        known = found.get(error) or Failure(error, 0, run, moment)
        found[error] = known._replace(runs=known.runs + 1)
    return sorted(found.values(), key=lambda failure: -failure.runs)[:SHOWN]


def usage_charts(days: Sequence[date]) -> list[Chart]:
    """Tokens by model, and what they cost where any price is known."""
    usage, charts = Usage.objects.filter(day__gte=days[0]), []
    shown = ((_("Tokens by model"), TOKENS), (_("Cost by model"), COST))
    for title, (amount, measure) in shown:
        series = used(usage, "model", amount)
        if any(counts.total() for counts in series.values()):
            charts.append(draw(title, most_first(series), days, measure))
    return charts
