"""The list of agents beside a page, which is sent anew when it may have changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

from django.contrib.auth.models import User

from agents.asyncio_bridge import in_thread

from .frames import render_list
from .languages import speaking
from .publisher import Published

LIST_SECONDS = 0.5  # it is rendered at most so often
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
        if not self.is_due:
            self.is_due = True
            task = asyncio.create_task(self.send_soon())
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def send_soon(self) -> None:
        """Send it, after a moment in which more may have changed."""
        await asyncio.sleep(LIST_SECONDS)
        async with _turns.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(AT_ONCE)):
            self.is_due = False
            content = await in_thread(speaking, self.language, render_list, self.user, *self.shown)
        await self.send({"content": content})

    def end(self) -> None:
        for task in self.tasks:
            task.cancel()
