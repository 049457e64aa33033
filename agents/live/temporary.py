"""A page that shows a temporary chat keeps it open by saying so now and then, over its socket."""

from __future__ import annotations

import asyncio

from agents.asyncio_bridge import in_thread
from agents.models import Agent


class KeptOpen:
    """The temporary chat that a socket's page shows, if it shows one."""

    def __init__(self) -> None:
        self.chat: Agent | None = None
        self.saying: asyncio.Task[None] | None = None

    def begin(self, agent: Agent) -> None:
        """The page shows this agent, or temporary chat."""
        self.chat = agent if agent.is_temporary else None
        self.renew()

    def renew(self) -> None:
        """It still does; called whenever the page gets something, and at least every 15 s."""
        if self.chat and (self.saying is None or self.saying.done()):
            self.saying = asyncio.create_task(in_thread(self.chat.keep_open))
