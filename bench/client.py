"""The two who are timed: a page of the app, and the `openai` client alone."""

from __future__ import annotations

import asyncio
import json
import re
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import httpx2
from openai import AsyncOpenAI, DefaultAsyncHttpxClient
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin

from bench.processes import BenchError, Server
from bench.stub import EDIT, MODEL, STAMP

ACK_EVERY = 0.1  # seconds, as the page does
MESSAGE_SECONDS = 15.0
LAST_SEQ = re.compile(rb'data-seq="(\d+)"')
RUN_END = re.compile(r'hx-target="#run-[^"]+-foot"')
ASK = "What did I tell you about the garden, and what should I do about it this week?"


@dataclass(frozen=True)
class Timing:
    """A message in milliseconds: until its run ended; its first content's lag behind the model;
    until the page had the first event of it."""

    took: float
    behind: float
    seen: float = 0.0


def lag(text: str) -> float | None:
    """Milliseconds since the model sent what this text begins with."""
    found = STAMP.search(text)
    return (time.monotonic_ns() - int(found[1])) / 1e6 if found else None


class Page:
    """An open page: it follows an agent, sends messages, acknowledges what it gets."""

    def __init__(self, server: Server, agent: str, cookie: str = "") -> None:
        self.server, self.agent, self.cookie = server, agent, cookie
        self.seq, self.acked = 0, 0.0

    async def __aenter__(self) -> Self:
        found = LAST_SEQ.search(self.server.get(f"/agents/{self.agent}/", self.cookie))
        if not found:
            raise BenchError("The page does not say at which event it was drawn.")
        self.socket: ClientConnection = await connect(
            f"ws://{self.server.address}/ws/",
            origin=Origin(f"http://{self.server.address}"),
            additional_headers={"Cookie": self.cookie} if self.cookie else None,
            compression=None,
            proxy=None,
            max_size=None,
        )
        self.seq = int(found[1])
        await self.command("follow", agent=self.agent, after=self.seq)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.socket.close()

    async def command(self, command: str, **body: Any) -> None:
        await self.socket.send(json.dumps({"command": command, **body}))

    async def say(self, text: str = ASK) -> Timing:
        """Send a message; timed from here until the frame that brings the run's end."""
        began, behind, sent_at = time.perf_counter(), None, self.seq
        seen = 0.0
        await self.command("send", agent=self.agent, text=text, key=uuid4().hex)
        while True:
            content = await self.next_content()
            if not seen and self.seq > sent_at:
                seen = (time.perf_counter() - began) * 1000
            behind = lag(content) if behind is None else behind
            if RUN_END.search(content):
                took = (time.perf_counter() - began) * 1000
                break
        if 'class="failure"' in content or behind is None:
            raise BenchError(f"The run failed: {content}")
        return Timing(took, behind, seen)

    async def edit(self) -> Timing:
        """A message that the agent answers after an edit of its memory."""
        return await self.say(f"{EDIT} I like cherry pie.")

    async def next_content(self) -> str:
        async with asyncio.timeout(MESSAGE_SECONDS):
            frame = json.loads(await self.socket.recv())
        if "refused" in frame:
            raise BenchError(f"The server refused: {frame['content']}")
        if seq := frame.get("seq"):
            self.seq = seq
            await self.acknowledge()
        return str(frame.get("content") or frame.get("piece", {}).get("text", ""))

    async def acknowledge(self) -> None:
        """An event was drawn. Pieces of a draft are none, so a page does not answer them."""
        if time.monotonic() - self.acked > ACK_EVERY:
            self.acked = time.monotonic()
            await self.command("ack", seq=self.seq)


class RawClient:
    """The official client, streaming the same requests, with nothing around it."""

    def __init__(self, base_url: str, request: dict[str, Any]) -> None:
        transport: httpx2.AsyncClient = DefaultAsyncHttpxClient(trust_env=False)
        self.client = AsyncOpenAI(base_url=base_url, api_key="bench", http_client=transport)
        self.request = request | {"model": MODEL}

    async def say(self, text: str = ASK) -> Timing:
        """One call, or for an edit two, as the app makes them."""
        began, behind = time.perf_counter(), None
        messages = [*self.request["messages"], {"role": "user", "content": text}]
        while behind is None:
            behind, call = await self.step(messages)
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": "Done."})
        return Timing((time.perf_counter() - began) * 1000, behind)

    async def step(self, messages: list[dict[str, Any]]) -> tuple[float | None, dict[str, Any]]:
        """The first content's lag, if there was content, and the tool call."""
        behind, call_id, arguments = None, "", ""
        stream: Any = await self.client.chat.completions.create(
            **self.request | {"messages": messages}
        )
        async for chunk in stream:
            delta = chunk.choices[0].delta if chunk.choices else None
            if delta and delta.content and behind is None:
                behind = lag(delta.content)
            for piece in (delta and delta.tool_calls) or []:
                call_id += piece.id or ""
                arguments += piece.function.arguments
        function = {"name": "core_memory_append", "arguments": arguments}
        return behind, {"id": call_id, "type": "function", "function": function}

    async def edit(self) -> Timing:
        return await self.say(f"{EDIT} I like cherry pie.")

    async def close(self) -> None:
        await self.client.close()
