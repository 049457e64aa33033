"""Which runs: those that go on, those that wait, those of a transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from django.db import models

if TYPE_CHECKING:
    from .run import Run  # noqa: F401, names the rows


class RunQuerySet(models.QuerySet["Run"]):
    def running(self) -> Self:
        return self.filter(status="running")

    def queued(self) -> Self:
        return self.filter(status="queued").order_by("pk")

    def shown(self) -> Self:
        """The runs of a transcript, with all that is drawn of them."""
        return (
            self.exclude(status="queued")
            .order_by("pk")
            .prefetch_related(
                "messages",
                "compactions",
                "steps__messages",
                "steps__block_edits__block",
                "steps__approvals__decided_by",
            )
        )
