"""The demo model on OpenAI's wire: an httpx2 transport under the official client."""

import asyncio
import json
import re
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress

import httpx2

from .rules import reply_to
from .turn import Json, Reply

PACE = 0.025  # seconds between two chunks of a stream


class DemoTransport(httpx2.AsyncBaseTransport):
    """Answers every request as a stream of `POST /chat/completions`; needs no network."""

    def __init__(self, pace: float = PACE) -> None:
        self.pace = pace

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(await request.aread())
        reply = await asyncio.to_thread(reply_to, body)  # a summary takes a while
        headers = {"content-type": "text/event-stream; charset=utf-8"}
        stream = PacedStream(chunks(body, reply), self.pace)
        return httpx2.Response(200, headers=headers, stream=stream)


class PacedStream(httpx2.AsyncByteStream):
    """Chunks as server-sent events, one every `pace` seconds, until they end or it is closed."""

    def __init__(self, chunks: Iterator[Json], pace: float) -> None:
        self.chunks, self.pace = chunks, pace
        self.closed = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self.chunks:
            if self.closed.is_set():
                return
            yield f"data: {json.dumps(chunk)}\n\n".encode()
            with suppress(TimeoutError):
                await asyncio.wait_for(self.closed.wait(), self.pace)
        yield b"data: [DONE]\n\n"

    async def aclose(self) -> None:
        self.closed.set()


def chunks(request: Json, reply: Reply) -> Iterator[Json]:
    """The reply as `chat.completion.chunk`s: role, text, calls, finish reason, usage."""
    frame = {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": request["model"],
    }
    for delta in deltas(reply):
        yield {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    finish = "tool_calls" if reply.calls else "stop"
    yield {**frame, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
    if (request.get("stream_options") or {}).get("include_usage"):
        yield {**frame, "choices": [], "usage": usage(request, reply)}


def deltas(reply: Reply) -> Iterator[Json]:
    """The reply in small pieces, about a word each."""
    yield {"role": "assistant", "content": None if reply.calls else ""}
    for word in re.findall(r"\s*\S{1,16}|\s+", reply.text):
        yield {"content": word}
    for index, call in enumerate(reply.calls):
        head = {"index": index, "id": f"call_{uuid.uuid4().hex[:24]}", "type": "function"}
        yield {"tool_calls": [{**head, "function": {"name": call.name, "arguments": ""}}]}
        for part in re.findall(r".{1,6}", json.dumps(call.arguments, ensure_ascii=False)):
            yield {"tool_calls": [{"index": index, "function": {"arguments": part}}]}


def usage(request: Json, reply: Reply) -> Json:
    """Estimated tokens, four characters each."""
    prompt = len(json.dumps([request["messages"], request.get("tools")], ensure_ascii=False)) // 4
    answer = len(f"{reply.text}{reply.calls}") // 4
    return {
        "prompt_tokens": prompt,
        "completion_tokens": answer,
        "total_tokens": prompt + answer,
    }
