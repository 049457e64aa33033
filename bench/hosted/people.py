"""People with open pages, over real sockets: they send messages, and check what they are sent."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from typing import Any
from uuid import uuid4

from bench.client import RUN_END, Page, Timing
from bench.hosted.deployment import Deployment, Person
from bench.processes import BenchError
from bench.stub import PIECE, PIECE_SECONDS

OPENED_AT_ONCE = 8


class Watching(Page):
    """A page that watches an answer stream: no piece may be missing, none may come twice."""

    def watch_from_here(self) -> None:
        self.pieces = 0  # that came, all in order
        self.draft, self.length = 0, 0  # the message that is written, and its characters so far
        self.lags: list[float] = []  # ms of each, behind the stub's write
        self.faults: list[str] = []
        self.ended = asyncio.Event()

    async def watch(self) -> None:
        """Take in frames until the socket closes."""
        with contextlib.suppress(asyncio.CancelledError):
            async for message in self.socket:
                now = time.monotonic_ns() / 1e6
                frame = json.loads(message)
                seq = frame.get("seq")
                if seq is not None:
                    self.take_seq(seq)
                self.take_pieces(frame.get("content") or self.new_text(frame.get("piece")), now)
                if seq:
                    await self.acknowledge()

    def take_seq(self, seq: int) -> None:
        if seq <= self.seq:
            self.faults.append(f"event {seq} came after event {self.seq}")
        self.seq = max(seq, self.seq)

    def new_text(self, piece: dict[str, Any] | None) -> str:
        """What is new in a piece of a draft, by its place; see static/js/socket.js."""
        if not piece:
            return ""
        if piece["message"] != self.draft:
            self.draft, self.length = piece["message"], 0
        start, text = piece["start"], piece["text"]
        if start > self.length or start + len(text) <= self.length:
            return ""
        new: str = text[self.length - start :]
        self.length = start + len(text)
        return new

    def take_pieces(self, content: str, now: float) -> None:
        """Those that are new follow the last one; a draft or an answer that is drawn whole repeats
        what came before."""
        for found in PIECE.finditer(content):
            number = int(found[1])
            if number > self.pieces:
                self.faults.append(f"piece {number} came when {self.pieces} was next")
            if number >= self.pieces:
                self.pieces = number + 1
                self.lags.append(now - int(found[2]))
        if RUN_END.search(content):
            self.ended.set()

    async def ask_for(self, seconds: float) -> int:
        """Ask for an answer that streams for so long; how many pieces that makes."""
        pieces = int(seconds / PIECE_SECONDS)
        await self.command("send", agent=self.agent, text=f"[stream {pieces}]", key=uuid4().hex)
        return pieces


@contextlib.asynccontextmanager
async def pages(deployment: Deployment, people: Sequence[Person]) -> AsyncIterator[list[Watching]]:
    """A page of each, by turns at each web process."""
    limit = asyncio.Semaphore(OPENED_AT_ONCE)
    web = deployment.web
    made = [
        Watching(web[number % len(web)], each.agent, each.cookie)
        for number, each in enumerate(people)
    ]

    async def opened(page: Watching) -> None:
        async with limit:
            await stack.enter_async_context(page)
            page.watch_from_here()

    async with AsyncExitStack() as stack:
        await asyncio.gather(*map(opened, made))
        yield made


async def say(page: Page, times: int) -> list[Timing]:
    """Messages one after another, each when the one before it is answered."""
    return [await page.say() for _ in range(times)]


def check(pages: Sequence[Watching], pieces: int) -> list[str]:
    """What is wrong with what pages were sent of an answer of so many pieces."""
    faults = []
    for number, page in enumerate(pages):
        faults += [f"page {number}: {fault}" for fault in page.faults]
        if page.pieces != pieces:
            faults.append(f"page {number}: {page.pieces} of {pieces} pieces came")
    return faults


def refuse_faults(faults: Sequence[str]) -> None:
    if faults:
        raise BenchError("Events were lost or out of order: " + "; ".join(faults[:5]))
