"""From synchronous code to an event loop, and from an event loop to synchronous code.

A process has so many threads for requests. One person's work takes at most a share of them at once,
and the rest of it waits in line, so that nobody keeps the threads from the others.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar, copy_context
from functools import cache, partial
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from django.db import close_old_connections, connection

T = TypeVar("T")

THREADS = 16
SHARE = 6  # of them that one person's work takes at once

# Whose work it is, set where a socket or a request begins; None where nobody waits in line.
on_behalf_of: ContextVar[Hashable] = ContextVar("on_behalf_of", default=None)

_threads = ThreadPoolExecutor(THREADS, thread_name_prefix="request")
_shares: WeakValueDictionary[Hashable, asyncio.Semaphore] = WeakValueDictionary()


@cache
def loop() -> asyncio.AbstractEventLoop:
    """The process's background loop, on a thread of its own, started at first use."""
    made = asyncio.new_event_loop()
    threading.Thread(target=made.run_forever, name="background-loop", daemon=True).start()
    return made


async def in_thread(function: Callable[..., T], *args: Any) -> T:
    """Run synchronous code, with a database connection that stays with its thread on SQLite."""
    loop, person = asyncio.get_running_loop(), on_behalf_of.get()
    if person is None:
        return await loop.run_in_executor(_threads, copy_context().run, _call, function, args)
    share = _shares.setdefault((id(loop), person), asyncio.Semaphore(SHARE))
    await share.acquire()
    work = _threads.submit(copy_context().run, _call, function, args)
    # when the work has ended, not when nobody waits for it any more: a thread cannot be cancelled
    work.add_done_callback(partial(_give_back, loop, share))
    return await asyncio.wrap_future(work)


def _give_back(loop: asyncio.AbstractEventLoop, share: asyncio.Semaphore, _work: Any) -> None:
    with suppress(RuntimeError):  # the loop was closed meanwhile
        loop.call_soon_threadsafe(share.release)


def _call(function: Callable[..., T], args: tuple[Any, ...]) -> T:
    try:
        return function(*args)
    finally:
        if connection.vendor != "sqlite":
            close_old_connections()
