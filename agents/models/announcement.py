"""Announcement: what administrators tell everybody, above every page, for some time."""

from __future__ import annotations

import threading
import time
from datetime import datetime
from typing import Self

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import DatabaseError, models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

LONGEST = 2_000  # characters
CACHED_SECONDS = 5.0

_lock = threading.Lock()
_known: tuple[float, list[Announcement]] = (-CACHED_SECONDS, [])  # when they were read, and these


class AnnouncementQuerySet(models.QuerySet["Announcement"]):
    def not_ended(self) -> Self:
        """Those that are shown now or later, the first to begin first."""
        open_ones = Q(ends_at=None) | Q(ends_at__gt=timezone.now())
        return self.filter(open_ones).order_by("starts_at", "pk")

    def known(self, read_after: float = 0.0) -> list[Announcement]:
        """Those that have not ended, as this process read them within the last seconds, and after
        that moment (`time.monotonic()`). Where the database fails, as they were."""
        global _known
        with _lock:
            at, found = _known
            if at < max(read_after, time.monotonic() - CACHED_SECONDS):
                now = time.monotonic()
                try:
                    _known = now, list(self.not_ended())
                except DatabaseError:
                    return found
            return _known[1]

    def shown(self) -> list[Announcement]:
        """Those of the known ones that are shown now."""
        return [each for each in self.known() if each.is_shown()]


def forget() -> None:
    """Read them anew."""
    global _known
    _known = -CACHED_SECONDS, []


class Announcement(models.Model):
    """A text in Markdown that everybody who is logged in sees until it ends or they hide it."""

    class Level(models.TextChoices):
        INFO = "info", _("information")
        WARNING = "warning", _("warning")

    text = models.TextField(max_length=LONGEST, help_text=_("Markdown."))
    level = models.CharField(max_length=10, choices=Level, default=Level.INFO)
    starts_at = models.DateTimeField(default=timezone.now, help_text=_("In UTC."))
    ends_at = models.DateTimeField(
        null=True, blank=True, help_text=_("In UTC. Empty: until it is deleted or given an end.")
    )
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, editable=False, related_name="+"
    )
    updated_at = models.DateTimeField(auto_now=True)

    objects = AnnouncementQuerySet.as_manager()

    class Meta:
        ordering = ["-starts_at"]

    def __str__(self) -> str:
        return gettext("announcement %(number)s") % {"number": self.pk}

    def clean(self) -> None:
        if self.ends_at and self.starts_at and self.ends_at <= self.starts_at:
            words = gettext("It ends before it begins. Choose a later moment.")
            raise ValidationError({"ends_at": words})

    def is_shown(self) -> bool:
        now = timezone.now()
        return self.starts_at <= now and (self.ends_at is None or now < self.ends_at)

    @property
    def state(self) -> str:
        """In words."""
        if self.is_shown():
            return pgettext("announcement", "shown")
        if self.starts_at > timezone.now():
            return pgettext("announcement", "to come")
        return pgettext("announcement", "ended")

    @property
    def key(self) -> str:
        """What a browser keeps of those that were hidden; one that was changed comes back."""
        return f"{self.pk}-{self.updated_at.timestamp() * 1e6:.0f}"

    @property
    def changes_at(self) -> datetime | None:
        """The next moment at which it comes or goes."""
        return next(
            (at for at in (self.starts_at, self.ends_at) if at and at > timezone.now()), None
        )
