"""The list of agents beside a page, which is sent anew when it may have changed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

from django.contrib.auth.models import User

from agents.asyncio_bridge import in_thread

from .frames import render_list
from .languages import speaking
from .publisher import Published

logger = logging.getLogger(__name__)
LIST_SECONDS = 0.5  # it is rendered at most so often
AGAIN_SECONDS = 5.0  # after which it is rendered again, where that failed
AT_ONCE = 2  # lists are rendered: when many agents begin at once, what they say goes first

_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


class AgentList:
    """The list of one socket's page; `send` sends a frame."""

    def __init__(
        self, user: User, language: str, send: Callable[[dict[str, Any]], Coroutine[Any, Any, None]]
    ) -> None:
        self.user, self.language, self.send = user, language, send
        self.shown: tuple[UUID | None, UUID | None] = None, None  # the open agent and conversation
        self.is_due = False
        self.tasks: set[asyncio.Task[None]] = set()

    def changed(self, events: Sequence[Published] = ()) -> None:
        self.send_within(LIST_SECONDS)

    def send_within(self, seconds: float) -> None:
        """Send it after so long, in which more may change."""
        if not self.is_due:
            self.is_due = True
            task = asyncio.create_task(self.send_after(seconds))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def send_after(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        try:
            content = await self.render()
        except Exception:
            logger.warning("A list of agents could not be rendered; again soon.", exc_info=True)
            self.send_within(AGAIN_SECONDS)
        else:
            await self.send({"content": content})

    async def render(self) -> str:
        async with _turns.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(AT_ONCE)):
            self.is_due = False
            return await in_thread(speaking, self.language, render_list, self.user, *self.shown)

    def end(self) -> None:
        for task in self.tasks:
            task.cancel()
