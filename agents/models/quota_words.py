"""The sentences of quotas: how much there is, and why something is refused."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext

from agents.text.numbers import decimal, whole
from agents.text.stored import stored as _
from agents.text.stored import stored_plural

from .quota import Allowance

if TYPE_CHECKING:
    from .quota_checks import Meter

MICRO = 1_000_000  # parts of a US dollar, in which costs are counted
TOKENS = stored_plural("%(count)s token", "%(count)s tokens")
DOLLARS = _("$%(amount)s")
PERIODS = {"day": _("%(amount)s a day"), "month": _("%(amount)s a month")}
OF_GROUP = _("%(limit)s of the group %(group)s")
AT, ON = _("at %(time)s UTC"), _("on %(day)s at %(time)s UTC")
TOO_MUCH = _(
    "This call of the model may take %(wanted)s, and of the %(limit)s that %(name)s may use"
    " %(left)s are left. More is allowed %(when)s."
)
TOO_MUCH_OF_GROUP = _(
    "This call of the model may take %(wanted)s, and of the %(limit)s that the members of %(name)s"
    " may use %(left)s are left. More is allowed %(when)s."
)
USED_UP = _("%(name)s has used up their %(limit)s. They return %(when)s.")
USED_UP_BY_YOU = _("You have used up your %(limit)s. They return %(when)s.")
USED_UP_BY_GROUP = _("The group %(name)s has used up its %(limit)s. They return %(when)s.")
AGAIN_THEN = _("%(words)s Send this again then.")
AGENTS = stored_plural("%(count)s agent", "%(count)s agents")
TOO_FAST = stored_plural(
    "You may send %(count)s message a minute, and that many were sent in this one. Send this again"
    " in %(seconds)s s.",
    "You may send %(count)s messages a minute, and that many were sent in this one. Send this again"
    " in %(seconds)s s.",
)
TOO_FAST_OF_GROUP = stored_plural(
    "The members of %(group)s may send %(count)s message a minute, and that many were sent in this"
    " one. Send this again in %(seconds)s s.",
    "The members of %(group)s may send %(count)s messages a minute, and that many were sent in this"
    " one. Send this again in %(seconds)s s.",
)
AT_ONCE = stored_plural(
    "You may have %(agents)s at work at once, and %(count)s is. Send this again when one of them is"
    " done.",
    "You may have %(agents)s at work at once, and %(count)s are. Send this again when one of them"
    " is done.",
)
AT_ONCE_OF_GROUP = stored_plural(
    "The members of %(group)s may have %(agents)s at work at once, and %(count)s is. Send this"
    " again when one of them is done.",
    "The members of %(group)s may have %(agents)s at work at once, and %(count)s are. Send this"
    " again when one of them is done.",
)


def amount_in_words(amount: int, unit: str) -> str:
    """So many "tokens", or millionths of "dollars"."""
    if unit == "tokens":
        return ngettext(*TOKENS, amount) % {"count": whole(amount)}
    return gettext(DOLLARS) % {"amount": decimal(amount / MICRO, 2)}


def moment_in_words(moment: datetime) -> str:
    """When that is; within a day without the date. In UTC."""
    time = date_format(moment, "TIME_FORMAT")
    if moment - timezone.now() < timedelta(days=1):
        return gettext(AT) % {"time": time}
    return gettext(ON) % {"day": date_format(moment, "DATE_FORMAT"), "time": time}


def used_up(meter: Meter, name: str = "") -> str:
    """That a quota is used up, and when it returns; without a name, to the person."""
    group = meter.allowance.group
    words = USED_UP_BY_GROUP if group else USED_UP if name else USED_UP_BY_YOU
    values = {"name": group or name, "limit": meter.limit_in_words, "when": meter.when}
    return gettext(words) % values


def too_much(meter: Meter, wanted: int, name: str) -> str:
    """That a call may take more than is left to somebody."""
    group = meter.allowance.group
    amounts = {"wanted": meter.shown(wanted), "left": meter.shown(meter.left)}
    values = {"limit": meter.whole, "name": group or name, "when": meter.when}
    return gettext(TOO_MUCH_OF_GROUP if group else TOO_MUCH) % (amounts | values)


def too_fast(allowance: Allowance, most: int, seconds: int) -> str:
    """That no more may be sent in this minute."""
    words = ngettext(*(TOO_FAST_OF_GROUP if allowance.group else TOO_FAST), most)
    return words % {"group": allowance.group, "count": whole(most), "seconds": seconds}


def too_many_at_once(allowance: Allowance, most: int, running: int) -> str:
    """That no more agents may be at work."""
    words = ngettext(*(AT_ONCE_OF_GROUP if allowance.group else AT_ONCE), running)
    agents = ngettext(*AGENTS, most) % {"count": whole(most)}
    return words % {"group": allowance.group, "agents": agents, "count": whole(running)}
