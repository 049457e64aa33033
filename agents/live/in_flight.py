"""What was sent to a page and is not yet acknowledged: bounded, while the rest waits in the log."""

from __future__ import annotations

import asyncio
from collections import deque

from .frames import Frame

MOST_EVENTS = 300
MOST_BYTES = 1_000_000
ACK_SECONDS = 30.0  # a page that acknowledges nothing for so long is closed


class InFlight:
    """The events on their way to one page, each with its size."""

    def __init__(self) -> None:
        self.sent: deque[tuple[int, int]] = deque()  # (seq, bytes)
        self.acked = asyncio.Event()

    def __bool__(self) -> bool:
        return bool(self.sent)

    def clear(self) -> None:
        self.sent.clear()

    async def take(self, frame: Frame, seq: int) -> bool:
        """Note a frame that is about to be sent, as soon as there is room for it. False for one
        that is not to be sent, as a later event has its text as well; TimeoutError if the page
        acknowledges nothing."""
        size = size_of(frame)
        while self.is_full(size):
            if not frame.seq:
                return False
            self.acked.clear()
            await asyncio.wait_for(self.acked.wait(), ACK_SECONDS)
        self.sent.append((seq, size))
        return True

    def is_full(self, size: int) -> bool:
        """Whether there is no room for so many characters more."""
        waiting = sum(each for _, each in self.sent)
        return len(self.sent) >= MOST_EVENTS or (waiting > 0 and waiting + size > MOST_BYTES)

    def acknowledge(self, seq: int) -> None:
        """The page has drawn everything up to an event."""
        while self.sent and self.sent[0][0] <= seq:
            self.sent.popleft()
        self.acked.set()


def size_of(frame: Frame) -> int:
    size = len(frame.content or "") + (len(frame.piece["text"]) if frame.piece else 0)
    return size + (len(frame.block["html"]) if frame.block else 0)
