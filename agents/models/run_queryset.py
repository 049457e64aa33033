"""Which runs: those that go on, those that wait, those of a transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from django.db import models

from .prepared_sql import key, read

if TYPE_CHECKING:
    from .agent import Agent
    from .run import Run


class RunQuerySet(models.QuerySet["Run"]):
    def running(self) -> Self:
        return self.filter(status="running")

    def queued(self) -> Self:
        return self.filter(status="queued").order_by("pk")

    def waiting_for_approval(self, agent: Agent) -> Run | None:
        """The agent's run that waits until a person approves a tool call."""
        rows = read(self.model, "WHERE agent_id = %s AND status = 'waiting' LIMIT 1", key(agent))
        return rows[0] if rows else None

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
