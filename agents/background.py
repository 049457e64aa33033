"""One event loop on a thread of its own, for what must be asynchronous inside synchronous code."""

import asyncio
import threading
from functools import cache


@cache
def loop() -> asyncio.AbstractEventLoop:
    """The process's background loop, started at first use."""
    made = asyncio.new_event_loop()
    threading.Thread(target=made.run_forever, name="background-loop", daemon=True).start()
    return made
