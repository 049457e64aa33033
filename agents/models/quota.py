"""Quota: how much a person, a group together, or everybody else may use, as administrators say.

Read every few seconds by each process, and at once where one was changed; where there are none, no
message costs a statement more.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models.functions import Coalesce
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

READ_SECONDS = 5.0  # for so long what was read holds


def money(about: Any) -> Any:
    return models.DecimalField(
        about,
        max_digits=10,
        decimal_places=2,
        null=True,
        blank=True,
        validators=[MinValueValidator(Decimal(0))],
    )


class Limits(NamedTuple):
    """The fields of a quota; None is no limit."""

    messages_a_minute: int | None = None
    runs_at_once: int | None = None
    tokens_a_day: int | None = None
    tokens_a_month: int | None = None
    dollars_a_day: Decimal | None = None
    dollars_a_month: Decimal | None = None
    storage: int | None = None

    def over(self, other: Limits) -> Limits:
        """These limits, and the other's where there is none."""
        return Limits._make(
            theirs if mine is None else mine for mine, theirs in zip(self, other, strict=True)
        )

    @property
    def spending(self) -> bool:
        """Whether tokens or money are limited."""
        return any(each is not None for each in self[2:6])


class Quota(models.Model):
    """Limits for one person, for a group's members together, or, without either, for everybody.

    A person's own row wins field by field over everybody's; a group's holds besides. An empty field
    is no limit of its own; 0 allows nothing.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("person"),
        help_text=_("Leave person and group empty for the quota of everybody."),
    )
    group = models.ForeignKey(
        Group,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        help_text=_("What its members use counts together."),
    )
    messages_a_minute = models.PositiveIntegerField(null=True, blank=True)
    runs_at_once = models.PositiveIntegerField(null=True, blank=True)
    tokens_a_day = models.PositiveBigIntegerField(null=True, blank=True)
    tokens_a_month = models.PositiveBigIntegerField(null=True, blank=True)
    dollars_a_day = money(_("US dollars a day"))
    dollars_a_month = money(_("US dollars a month"))
    storage = models.PositiveIntegerField(_("storage in MB"), null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(user=None) | models.Q(group=None),
                name="quota_of_a_person_or_a_group",
                violation_error_message=_("Choose a person or a group, not both."),
            ),
            models.UniqueConstraint(
                Coalesce("user_id", 0),
                Coalesce("group_id", 0),
                name="quota_is_one_row",
                violation_error_message=_("There is a quota for them already; change that one."),
            ),
        ]

    def __str__(self) -> str:
        if self.group:
            return gettext("the group %(group)s, together") % {"group": self.group.name}
        return self.user.get_username() if self.user else gettext("everybody")

    def clean(self) -> None:
        if self.limits == Limits():
            raise ValidationError(gettext("Set at least one limit."))

    @property
    def limits(self) -> Limits:
        return Limits._make(getattr(self, name) for name in Limits._fields)


@dataclass(frozen=True)
class Allowance:
    """Limits that hold for a person: for them alone, or together with a group's other members."""

    limits: Limits
    user_id: int
    group_id: int | None = None
    group: str = ""

    def paid_by(self, user: str = "user") -> dict[str, int]:
        """The filter for what counts; `user` is the way to who pays."""
        if self.group_id is None:
            return {f"{user}_id": self.user_id}
        return {f"{user}__groups": self.group_id}

    @property
    def key(self) -> tuple[int, int]:
        """What tells it apart from other allowances: a kind and a number."""
        return (0, self.user_id) if self.group_id is None else (1, self.group_id)


class Read(NamedTuple):
    """All quotas, as they were read last."""

    at: float  # monotonic
    everybody: Limits
    people: dict[int, Limits]
    groups: list[tuple[int, str, Limits, frozenset[int]]]  # with their members


_last: Read | None = None


def allowances_of(user_id: int) -> Sequence[Allowance]:
    """The limits that hold for a person; none where no quota says anything of them."""
    quotas = _quotas()
    own = quotas.people.get(user_id, Limits()).over(quotas.everybody)
    found = [Allowance(own, user_id)] if own != Limits() else []
    for group_id, name, limits, members in quotas.groups:
        if user_id in members:
            found.append(Allowance(limits, user_id, group_id, name))
    return found


def forget(**_: Any) -> None:
    """Read the quotas anew when they are needed next."""
    global _last
    _last = None


def _quotas() -> Read:
    global _last
    known = _last
    if known is None or time.monotonic() - known.at > READ_SECONDS:
        known = _last = _read()
    return known


def _read() -> Read:
    at, everybody = time.monotonic(), Limits()
    people: dict[int, Limits] = {}
    groups = []
    for quota in Quota.objects.select_related("group"):
        if quota.user_id:
            people[quota.user_id] = quota.limits
        elif quota.group:
            members = User.objects.filter(groups=quota.group).values_list("pk", flat=True)
            groups.append((quota.group.pk, quota.group.name, quota.limits, frozenset(members)))
        else:
            everybody = quota.limits
    return Read(at, everybody, people, groups)
