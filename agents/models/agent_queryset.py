"""Which agents: those a person may see or bring back, and those to delete for good."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Self

from django.db import models
from django.utils import timezone

from .role import Role, visible
from .run import REQUIRES_APPROVAL, Run

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

    from .agent import Agent  # noqa: F401, names the rows

KEPT_AFTER_DELETE = timedelta(days=30)
UNFINISHED = datetime(1970, 1, 1, tzinfo=UTC)  # `deleted_at` of an agent that is being imported
LONGEST_IMPORT = timedelta(hours=1)


class AgentQuerySet(models.QuerySet["Agent"]):
    def visible_to(self, user: User | AnonymousUser, role: Role = Role.VIEWER) -> Self:
        """The agents a person may see: their own and those shared with them, unless deleted; with
        `role`, those in which they have at least that role."""
        return self.filter(visible(user, role, agent=""))

    def listed(self) -> Self:
        """Those that lists show: not those that a script or a person hid."""
        return self.filter(hidden=False)

    def trashed_by(self, user: User | AnonymousUser) -> Self:
        """A person's deleted agents that can still be brought back."""
        return self.filter(owner_id=user.pk, deleted_at__gt=timezone.now() - KEPT_AFTER_DELETE)

    def purge_expired(self) -> None:
        """Delete for good what was deleted too long ago to be brought back, and what is left of
        imports that ended before they were done."""
        now = timezone.now()
        expired = self.filter(deleted_at__lte=now - KEPT_AFTER_DELETE)
        for agent in expired.filter(created_at__lte=now - LONGEST_IMPORT):
            agent.purge()

    def ended(self, reasons: Collection[str]) -> Self:
        """Those of which the newest run that has begun ended, or waits, for one of these."""
        begun = Run.objects.filter(agent=models.OuterRef("pk")).exclude(status=Run.Status.QUEUED)
        waiting = models.Case(
            models.When(status=Run.Status.WAITING, then=models.Value(REQUIRES_APPROVAL)),
            default="reason",
        )
        newest = begun.order_by("-pk").annotate(ended_by=waiting).values("ended_by")[:1]
        return self.annotate(ended_by=models.Subquery(newest)).filter(ended_by__in=reasons)

    def with_activity(self) -> Self:
        """Each agent with `busy`: whether one of its runs goes on."""
        running = Run.objects.filter(agent=models.OuterRef("pk"), status__in=Run.ACTIVE)
        return self.annotate(busy=models.Exists(running))
