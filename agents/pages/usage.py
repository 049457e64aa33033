"""A person's usage: what is left of each quota and when it returns, and what was used by model."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.db.models import F, Sum
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.text import capfirst
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_GET

from agents.llm.prices import dollars
from agents.models import Usage
from agents.models.limits import MEGABYTE
from agents.models.quota import allowances_of
from agents.models.quota_checks import all_meters
from agents.models.quota_words import MICRO
from agents.models.stored_bytes import known_bytes, members
from agents.models.usage import today
from agents.text.numbers import whole

from .request import Request

SUMS = ("calls", "prompt_tokens", "completion_tokens", "cost")


@login_required
@require_GET
def index(request: Request) -> HttpResponse:
    """Bars for the quotas, and tables for today and this month."""
    user, day = request.user, today()
    mine = Usage.objects.filter(user=user)
    this_month = mine.filter(day__gte=day.replace(day=1))
    context = {
        "meters": all_meters(user.pk),
        "stores": stores(user.pk),
        "paces": paces(user.pk),
        "tables": [
            (gettext("Today"), gettext("Model"), by_model(mine.filter(day=day))),
            (gettext("This month"), gettext("Model"), by_model(this_month)),
            (gettext("This month, by purpose"), gettext("Purpose"), by_kind(this_month)),
        ],
        "at_usage": True,
    }
    return render(request, "account/usage.html", context)


def paces(user_id: int) -> list[str]:
    """How many messages and runs a person may begin, in sentences."""
    sentences = []
    for each in allowances_of(user_id):
        if what := allowed(each.limits.messages_a_minute, each.limits.runs_at_once):
            if each.group:
                words = gettext("The members of %(group)s together may %(what)s.")
            else:
                words = gettext("You may %(what)s.")
            sentences.append(words % {"group": each.group, "what": what})
    return sentences


def allowed(messages: int | None, runs: int | None) -> str:
    """How many messages and runs somebody may begin, as what stands after "may"."""
    may = []
    if messages is not None:
        words = ngettext(
            "send %(count)s message a minute", "send %(count)s messages a minute", messages
        )
        may.append(words % {"count": whole(messages)})
    if runs is not None:
        words = ngettext(
            "have %(count)s agent at work at once", "have %(count)s agents at work at once", runs
        )
        may.append(words % {"count": whole(runs)})
    if len(may) == 2:
        return gettext("%(first)s and %(second)s") % {"first": may[0], "second": may[1]}
    return "".join(may)


def stores(user_id: int) -> list[dict[str, Any]]:
    """What is stored, of how many megabytes that may be."""
    found = []
    for each in allowances_of(user_id):
        if each.limits.storage is not None:
            size = sum(map(known_bytes, members(each))) / MEGABYTE
            most = each.limits.storage
            percent = min(100 * size / most, 100.0) if most else 100.0
            found.append({"group": each.group, "size": size, "most": most, "percent": percent})
    return found


def by_model(usage: Any) -> list[dict[str, Any]]:
    """What each model took, the most used first, with the cost in words."""
    rows = summed(usage, "model", "endpoint", "own_key")
    return [row | {"name": row["model"]} for row in rows]


def by_kind(usage: Any) -> list[dict[str, Any]]:
    """What was used for what."""
    rows = summed(usage, "kind")
    return [row | {"name": capfirst(str(Usage.Kind(row["kind"]).label))} for row in rows]


def summed(usage: Any, *names: str) -> list[dict[str, Any]]:
    """Sums of usage by these fields, the most tokens first."""
    sums = {f"sum_of_{name}": Sum(name) for name in SUMS}
    rows = usage.order_by().values(*names).annotate(**sums)
    rows = rows.order_by(-(F("sum_of_prompt_tokens") + F("sum_of_completion_tokens")), *names)
    return [row | {"dollars": dollars(row["sum_of_cost"] / MICRO)} for row in rows]
