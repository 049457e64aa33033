"""A stub of an OpenAI-compatible server: no delay, hardly a cost, in a process of its own.

A message of the person that contains `[edit]` is answered with a call of core_memory_append;
everything else, a tool's return too, with a short text. A text begins with the moment it was sent
(`STAMP`), on the clock that all processes of a machine share.

A message that contains `[stream 500]` is answered with so many pieces, one every `PIECE_SECONDS`;
each has its number and its moment (`PIECE`).
`python -m bench.stub` prints its port.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from typing import Any

STAMP = re.compile(r"said-at-(\d{20})")
EDIT = "[edit]"
STREAM = re.compile(rb"\[stream (\d+)\]")
PIECE = re.compile(r"\bw(\d+)-(\d+)\b")  # number, milliseconds of the clock
PIECE_SECONDS = 0.02
MODEL = "stub"

WORDS = (
    "Good that you say so. I keep in mind what you told me, and here is a plain answer of the"
    " **usual** length for you."
)
ARGUMENTS = ['{"label"', ': "human"', ', "content', '": "', "Likes", " cherry", " pie", '."}']
MOMENT = "0" * 20  # stands where the moment of sending goes
CALL_ID = "c" * 20  # stands where a number goes
BYTES_PER_TOKEN = 4
TOKENS = 1_000_000_000  # stands where the number of the request's tokens goes
USAGE = {"prompt_tokens": TOKENS, "completion_tokens": 24, "total_tokens": 0}
HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
    b"Connection: keep-alive\r\n\r\n"
)


def event(data: str) -> bytes:
    """A server-sent event as an HTTP chunk of its own, as servers send them."""
    line = f"data: {data}\n\n".encode()
    return b"%x\r\n%s\r\n" % (len(line), line)


def piece(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return event(chunk([choice], None))


def chunk(choices: list[dict[str, Any]], usage: dict[str, int] | None) -> str:
    named = {"id": "chatcmpl-stub", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
    return json.dumps({**named, "choices": choices, "usage": usage}, separators=(",", ":"))


def ending(finish: str) -> bytes:
    return piece({}, finish) + event(chunk([], USAGE)) + event("[DONE]") + b"0\r\n\r\n"


TEXT_BEGINS = piece({"role": "assistant", "content": ""})


def text() -> tuple[bytes, bytes]:
    """An answer of about twenty pieces: its first token, and the rest."""
    words = [f"{word} " for word in WORDS.split()]
    first = TEXT_BEGINS
    first += piece({"content": f"said-at-{MOMENT} "})
    return first, b"".join(piece({"content": word}) for word in words) + ending("stop")


def call() -> tuple[bytes, bytes]:
    """A tool call, its arguments in pieces."""
    function = {"name": "core_memory_append", "arguments": ""}
    opening = {"index": 0, "id": CALL_ID, "type": "function", "function": function}
    first = piece({"role": "assistant", "content": None, "tool_calls": [opening]})
    rest = [
        piece({"tool_calls": [{"index": 0, "function": {"arguments": part}}]}) for part in ARGUMENTS
    ]
    return first, b"".join(rest) + ending("tool_calls")


def whole(data: dict[str, Any]) -> bytes:
    body = json.dumps(data).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    return head % len(body) + body


TEXT, REST_OF_TEXT = text()
CALL, REST_OF_CALL = call()
MODELS = whole({"object": "list", "data": [{"id": MODEL, "object": "model", "created": 1}]})
LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)


class Stub(asyncio.Protocol):
    """One connection."""

    numbers = iter(range(10**19))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.received = transport, bytearray()
        self.streaming: asyncio.Task[None] | None = None

    def connection_lost(self, error: Exception | None) -> None:
        if self.streaming:
            self.streaming.cancel()

    def data_received(self, data: bytes) -> None:
        self.received += data
        while (start := self.received.find(b"\r\n\r\n") + 4) > 3:
            found = LENGTH.search(self.received, 0, start)
            end = start + (int(found[1]) if found else 0)
            if len(self.received) < end:
                return
            self.answer(self.received[:end])
            del self.received[:end]

    def answer(self, request: bytearray) -> None:
        """The first token in a write of its own, the rest at once after it."""
        if request.startswith(b"GET"):
            self.transport.write(MODELS)
        elif asks_for_edit(request):
            number = b"%020d" % next(self.numbers)
            self.transport.write(HEAD + CALL.replace(CALL_ID.encode(), number))
            self.transport.write(counted(REST_OF_CALL, request))
        elif asked := STREAM.search(last_message(request)):
            self.streaming = asyncio.create_task(self.stream(int(asked[1]), request))
        else:
            moment = b"%020d" % time.monotonic_ns()
            self.transport.write(HEAD + TEXT.replace(MOMENT.encode(), moment))
            self.transport.write(counted(REST_OF_TEXT, request))

    async def stream(self, pieces: int, request: bytearray) -> None:
        """An answer in pieces, each at its time, however late the one before it came."""
        began = time.monotonic()
        self.transport.write(HEAD + TEXT_BEGINS)
        for number in range(pieces):
            await asyncio.sleep(began + number * PIECE_SECONDS - time.monotonic())
            word = f"w{number}-{time.monotonic_ns() // 1_000_000} "
            self.transport.write(piece({"content": word}))
        self.transport.write(counted(ending("stop"), request))


def counted(answer: bytes, request: bytearray) -> bytes:
    """An answer's end, reporting how long the request was; spaces keep it as long as it was."""
    tokens = str(len(request) // BYTES_PER_TOKEN)
    return answer.replace(str(TOKENS).encode(), tokens.ljust(len(str(TOKENS))).encode())


def asks_for_edit(request: bytearray) -> bool:
    """Whether the last message is the person's and asks for an edit."""
    said = last_message(request)
    return said.lstrip().startswith(b'"user"') and EDIT.encode() in said


def last_message(request: bytearray) -> bytearray:
    """The last message, from its role on; a look at the end suffices."""
    return request[request.rfind(b'"role":') + 7 :]


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(Stub, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
