"""What the lists of agents and of conversations have in common: headings by the last activity."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import TypeVar

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from .approval import Approval

TODAY, WEEK = gettext_noop("Today"), gettext_noop("This week")
OLDER, OPEN = gettext_noop("Older"), gettext_noop("Open")
Row = TypeVar("Row")
Groups = list[tuple[str, list[Row]]]


def heading_of(moment: datetime) -> str:
    """Under which heading stands what was last active at that moment."""
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    if moment >= midnight:
        return gettext(TODAY)
    return gettext(WEEK if moment >= midnight - timedelta(days=6) else OLDER)


def grouped(rows: Iterable[Row], heading: Callable[[Row], str]) -> Groups[Row]:
    """Rows in their order, under their headings."""
    groups: Groups[Row] = []
    for row in rows:
        title = heading(row)
        if not groups or groups[-1][0] != title:
            groups.append((title, []))
        groups[-1][1].append(row)
    return groups


def waits_for_person(**of: models.OuterRef) -> models.Exists:
    """Whether a person is asked something in runs of an agent or a conversation (`of`)."""
    asked = Approval.objects.pending().filter(kind=Approval.Kind.PERSON)
    mine = {f"step__run__{name}": row for name, row in of.items()}
    return models.Exists(asked.filter(**mine, step__run__status="waiting"))
