"""What is left of a person's quotas, and the refusals where nothing is."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import F, Q, Sum
from django.utils import timezone
from django.utils.translation import gettext

from agents.text.numbers import whole

from .limits import LimitReached, counted
from .quota import Allowance, Limits, allowances_of
from .quota_words import (
    AGAIN_THEN,
    MICRO,
    OF_GROUP,
    PERIODS,
    amount_in_words,
    moment_in_words,
    too_fast,
    too_many_at_once,
    too_much,
    used_up,
)
from .run import Run
from .usage import Reservation, Usage, next_day, next_month, today

RUN_SECONDS = 10  # after which a person may ask again for a run, where too many go on
LOCK = 8286  # the first key of Postgres' advisory locks; the second is whose quota it is
LOW = 5  # a person is told when less than this part of a limit is left
TOKENS = F("prompt_tokens") + F("completion_tokens")
_is_free: Callable[[Run], bool] = lambda run: False  # noqa: E731


class Meter(NamedTuple):
    """One limit of what may be spent: tokens, or millionths of a US dollar."""

    allowance: Allowance
    unit: str  # "tokens" or "dollars"
    period: str  # "day" or "month"
    limit: int
    used: int
    returns_at: datetime

    @property
    def left(self) -> int:
        return max(self.limit - self.used, 0)

    @property
    def percent(self) -> float:
        """How much of it is used."""
        return min(100 * self.used / self.limit, 100.0) if self.limit else 100.0

    @property
    def is_low(self) -> bool:
        """Whether less than a fifth of it is left."""
        return self.left * LOW < self.limit or not self.left

    def shown(self, amount: int) -> str:
        """An amount of it in words."""
        return amount_in_words(amount, self.unit)

    @property
    def left_in_words(self) -> str:
        if not self.left:
            return gettext("used up")
        return gettext("%(amount)s left") % {"amount": self.shown(self.left)}

    @property
    def left_of_whole(self) -> str:
        """What is left of the limit: `1,200 of 10,000 tokens a day`."""
        left = whole(self.left) if self.unit == "tokens" else self.shown(self.left)
        return gettext("%(left)s of %(limit)s") % {"left": left, "limit": self.whole}

    @property
    def used_in_words(self) -> str:
        return self.shown(self.used)

    @property
    def whole(self) -> str:
        """The limit in words."""
        if not self.allowance.group:
            return self.limit_in_words
        values = {"limit": self.limit_in_words, "group": self.allowance.group}
        return gettext(OF_GROUP) % values

    @property
    def limit_in_words(self) -> str:
        """The same without whose it is."""
        return gettext(PERIODS[self.period]) % {"amount": self.shown(self.limit)}

    @property
    def seconds(self) -> int:
        """How long it is until it returns."""
        return max(round((self.returns_at - timezone.now()).total_seconds()), 1)

    @property
    def when(self) -> str:
        """When it returns, in words."""
        return moment_in_words(self.returns_at.astimezone(UTC))


def meters(allowance: Allowance, *, held: bool = True) -> list[Meter]:
    """What may be spent of one allowance, and what is used; `held`: with what calls in hand may
    take."""
    limits, day = allowance.limits, today()
    if not limits.spending:
        return []
    on_day = Q(day=day)
    spent = Usage.objects.filter(day__gte=day.replace(day=1), **allowance.paid_by()).aggregate(
        tokens_a_day=Sum(TOKENS, filter=on_day),
        tokens_a_month=Sum(TOKENS),
        dollars_a_day=Sum("cost", filter=on_day),
        dollars_a_month=Sum("cost"),
    )
    in_hand: dict[str, int | None] = {}
    if held:
        reserved = Reservation.objects.filter(**allowance.paid_by())
        in_hand = reserved.aggregate(tokens=Sum(TOKENS), dollars=Sum("cost"))
    found = []
    for name in Limits._fields[2:6]:
        if (limit := getattr(limits, name)) is None:
            continue
        unit, _, period = name.split("_")
        used = int(spent[name] or 0) + int(in_hand.get(unit) or 0)
        most = int(limit if unit == "tokens" else limit * MICRO)
        ends = next_day(day) if period == "day" else next_month(day)
        found.append(Meter(allowance, unit, period, most, used, ends))
    return found


def all_meters(user_id: int) -> list[Meter]:
    """What a person may spend, of all allowances that hold for them, and has spent."""
    return [meter for each in allowances_of(user_id) for meter in meters(each, held=False)]


def lowest_meter(user_id: int) -> Meter | None:
    """That of which the smallest part is left, if it is low; no statement where there is none."""
    low = [meter for meter in all_meters(user_id) if meter.is_low]
    return max(low, key=lambda meter: (meter.percent, meter.returns_at), default=None)


# -- refusals --------------------------------------------------------------------------------------


def set_pricing(is_free: Callable[[Run], bool]) -> None:
    """Have this say of a run whether its model costs nothing: prices are not known here."""
    global _is_free
    _is_free = is_free


def check_message(run: Run, *, begins: bool) -> None:
    """LimitReached where whoever pays for it may not begin a run now; `begins`: it begins at once.

    In the transaction that accepts it, with the agent's row held.
    """
    allowances = allowances_of(run.payer_id)
    hold([each for each in allowances if each.limits.runs_at_once is not None])
    for each in allowances:
        if run.kind == Run.Kind.MESSAGE:
            check_pace(each)
        if begins:
            check_runs(each)
        for meter in meters(each):
            if not meter.left and not (meter.unit == "dollars" and _is_free(run)):
                words = gettext(AGAIN_THEN) % {"words": used_up(meter)}
                raise LimitReached(words, meter.seconds)


def check_pace(allowance: Allowance) -> None:
    """LimitReached where this is one message too many within this minute."""
    most = allowance.limits.messages_a_minute
    if most is None:
        return
    minute, second = divmod(int(time.time()), 60)
    kind, number = allowance.key
    if counted(f"messages.{kind}.{number}.{minute}") > most:
        raise LimitReached(too_fast(allowance, most, 60 - second), seconds=60 - second)


def check_runs(allowance: Allowance) -> None:
    """LimitReached where as many runs go on as may."""
    most = allowance.limits.runs_at_once
    if most is None:
        return
    of_author = Q(**allowance.paid_by("author"))
    of_owner = Q(author=None, **allowance.paid_by("agent__owner"))
    runs = Run.objects.filter(of_author | of_owner, status=Run.Status.RUNNING)
    running = runs.values("pk").distinct().count()  # it comes once for each group
    if running >= most:
        raise LimitReached(too_many_at_once(allowance, most, running), seconds=RUN_SECONDS)


def is_limited(user_id: int) -> bool:
    """Whether what a person's calls take has to be reserved."""
    return any(each.limits.spending for each in allowances_of(user_id))


def check_spending(user_id: int, tokens: int, cost: int) -> None:
    """LimitReached where so many tokens, or millionths of a dollar, are more than is left to a
    person. Nobody else spends of the same quotas until the commit."""
    limited = [each for each in allowances_of(user_id) if each.limits.spending]
    hold(limited)
    for meter in (meter for each in limited for meter in meters(each)):
        wanted = tokens if meter.unit == "tokens" else cost
        if meter.left >= wanted:
            continue
        name = User.objects.filter(pk=user_id).values_list("username", flat=True).first() or ""
        if not meter.left:
            raise LimitReached(used_up(meter, name), meter.seconds)
        raise LimitReached(too_much(meter, wanted, name), meter.seconds)


def hold(allowances: Sequence[Allowance]) -> None:
    """Let nobody else count on the same quotas until the commit."""
    if connection.vendor != "postgresql":  # SQLite has one writer at a time
        return
    for kind, number in sorted(each.key for each in allowances):
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK + kind, number])
