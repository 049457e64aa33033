"""Presence: who else looks at a shared agent just now, as each open page says again and again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any
from uuid import UUID, uuid4

from django.utils import translation

from . import publisher
from .fragments import drawn

AGAIN_SECONDS = 10.0
KEPT_SECONDS = 45.0  # without a sign of it a page counts as closed; it gives one every 15 s


class Presence:
    """The people whose pages show the same agent as this socket's page.

    `send` sends the page a frame: the names of the others, each time they change.
    """

    def __init__(
        self, name: str, language: str, send: Callable[[dict[str, Any]], Coroutine[Any, Any, None]]
    ) -> None:
        self.name, self.language, self.send = name, language, send
        self.page = uuid4().hex
        self.agent_id: UUID | None = None
        self.pages: dict[str, tuple[str, float]] = {}  # of others: a name, and until when
        self.shown: list[str] = []
        self.said_at = 0.0
        self.sending: asyncio.Task[None] | None = None

    def begin(self, agent_id: UUID) -> None:
        """The page shows this agent, which several people may see."""
        self.end()
        self.agent_id = agent_id
        publisher.subscribe(publisher.presence_topic(agent_id), self.hear)
        self.say("came")

    def renew(self) -> None:
        """It still does; called whenever the page gets something, and at least every 15 s."""
        if self.agent_id and time.monotonic() - self.said_at > AGAIN_SECONDS:
            self.say("is here")
            self.show()

    def end(self) -> None:
        """It shows it no more."""
        if self.agent_id:
            self.say("left")
            publisher.unsubscribe(publisher.presence_topic(self.agent_id), self.hear)
            self.agent_id = None
            self.pages.clear()
            self.shown = []

    def say(self, what: str) -> None:
        assert self.agent_id
        self.said_at = time.monotonic()
        sign = {"page": self.page, "name": self.name, "what": what}
        publisher.publish_presence(self.agent_id, sign)

    def hear(self, signs: Sequence[publisher.Published]) -> None:
        """Take in what other pages say; one that has just come is answered. Nothing at all means
        that signs may have been missed."""
        if not signs:
            self.say("came")
        for sign in signs:
            if sign["page"] == self.page:
                continue
            if sign["what"] == "left":
                self.pages.pop(sign["page"], None)
                continue
            self.pages[sign["page"]] = sign["name"], time.monotonic() + KEPT_SECONDS
            if sign["what"] == "came":
                self.say("is here")
        self.show()

    def show(self) -> None:
        """Tell of the others where they changed."""
        now = time.monotonic()
        self.pages = {page: row for page, row in self.pages.items() if row[1] > now}
        names = sorted({name for name, _ in self.pages.values()} - {self.name})
        if names != self.shown:
            self.shown = names
            with translation.override(self.language):
                content = drawn("agents/events/_presence.html", names=names)
            self.sending = asyncio.create_task(self.send({"content": content}))
