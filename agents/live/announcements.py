"""Announcements on open pages: they come when they begin or are made, and go when they end."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone, translation

from agents.asyncio_bridge import in_thread
from agents.models import Announcement
from agents.models.announcement import forget

from . import publisher
from .fragments import drawn

logger = logging.getLogger(__name__)
LONGEST_WAIT = 3600.0  # seconds, after which it is looked again when something changes


def changed(**signal: Any) -> None:
    """Somebody wrote or deleted an announcement: the pages look, once that is committed."""

    def publish() -> None:
        forget()
        publisher.publish_announcements()

    transaction.on_commit(publish, robust=True)


class Announcements:
    """Those that the page of one socket shows; `send` sends it a frame each time they change."""

    def __init__(
        self, language: str, send: Callable[[dict[str, Any]], Coroutine[Any, Any, None]]
    ) -> None:
        self.language, self.send = language, send
        self.shown: list[str] = []  # their keys
        self.timer: asyncio.TimerHandle | None = None
        self.looking: asyncio.Task[None] | None = None

    def begin(self) -> None:
        publisher.subscribe(publisher.EVERYBODY, self.hear)
        self.look(read_after=0.0)

    def end(self) -> None:
        publisher.unsubscribe(publisher.EVERYBODY, self.hear)
        self.rest()

    def rest(self) -> None:
        if self.timer:
            self.timer.cancel()
        if self.looking:
            self.looking.cancel()

    def hear(self, events: Sequence[publisher.Published]) -> None:
        self.look(read_after=time.monotonic())

    def look(self, read_after: float) -> None:
        self.rest()
        self.looking = asyncio.create_task(self.show(read_after))

    async def show(self, read_after: float) -> None:
        """Tell the page what is shown now, if that is new to it, and look again when that changes.

        A page that has just come was drawn with them; one that came back was too late to hear.
        """
        known = await in_thread(Announcement.objects.all().known, read_after)
        shown = [each for each in known if each.is_shown()]
        moments = [at for each in known if (at := each.changes_at)]
        wait = (min(moments) - timezone.now()).total_seconds() if moments else LONGEST_WAIT
        loop = asyncio.get_running_loop()
        self.timer = loop.call_later(max(0.0, min(wait, LONGEST_WAIT)) + 0.1, self.look, 0.0)
        if (keys := [each.key for each in shown]) != self.shown:
            self.shown = keys
            with translation.override(self.language):
                content = drawn("agents/events/_announcements.html", announcements=shown)
            await self.send({"content": content})
