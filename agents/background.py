"""From synchronous code to an event loop, and from an event loop to synchronous code."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

from django.db import close_old_connections, connection

T = TypeVar("T")

_threads = ThreadPoolExecutor(16, thread_name_prefix="request")


@cache
def loop() -> asyncio.AbstractEventLoop:
    """The process's background loop, on a thread of its own, started at first use."""
    made = asyncio.new_event_loop()
    threading.Thread(target=made.run_forever, name="background-loop", daemon=True).start()
    return made


async def in_thread(function: Callable[..., T], *args: Any) -> T:
    """Run synchronous code, with a database connection that stays with its thread on SQLite."""
    return await asyncio.get_running_loop().run_in_executor(_threads, _call, function, args)


def _call(function: Callable[..., T], args: tuple[Any, ...]) -> T:
    try:
        return function(*args)
    finally:
        if connection.vendor != "sqlite":
            close_old_connections()
