"""Usage as a chart: the tokens or the money of each day, by model or by person."""

from __future__ import annotations

from collections import Counter
from datetime import date
from typing import Any

from django.db.models import F, Max, QuerySet, Sum
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from agents.llm.prices import dollars
from agents.models import Usage
from agents.models.quota_words import MICRO
from agents.text.numbers import whole

from .chart import Chart, Measure, Series, days_until, draw, most_first

DAYS = 31  # at most, up to the newest


def tokens(count: int) -> str:
    return ngettext("%(count)s token", "%(count)s tokens", count) % {"count": whole(count)}


def money(cost: int) -> str:
    return dollars(cost / MICRO)


TOKENS = (Sum(F("prompt_tokens") + F("completion_tokens")), Measure(tokens))
COST = (Sum("cost"), Measure(money, money))


def usage_chart(title: str, usage: QuerySet[Usage], field: str) -> Chart | None:
    """Tokens by day and by a field, of the newest days that these rows have; None of none."""
    newest = usage.order_by().aggregate(newest=Max("day"))["newest"]
    if newest is None:
        return None
    days = days_until(newest, DAYS)
    series = used(usage.filter(day__gte=days[0]), field, TOKENS[0])
    oldest = min(day for each in series.values() for day in each)
    return draw(title, most_first(series), [day for day in days if day >= oldest], TOKENS[1])


def used(usage: QuerySet[Usage], field: str, amount: Any) -> Series:
    """How much of an amount, by a field and by day."""
    series: Series = {}
    rows = usage.order_by().values_list("day", field).annotate(amount=amount)
    for day, name, count in rows:
        series.setdefault(name or _("(deleted)"), Counter[date]())[day] = count
    return series
