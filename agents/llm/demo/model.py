"""The demo model on OpenAI's wire: an httpx2 transport that answers chat completions.

Mounted under the official client, so that its request building and streaming parser are used:

    AsyncOpenAI(
        base_url="http://demo/v1",
        api_key="demo",
        max_retries=0,
        http_client=httpx2.AsyncClient(transport=DemoTransport()),
    )
"""

import asyncio
import json
import re
import time
import uuid
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import suppress
from typing import Any

import httpx2

from . import Call, Reply, reply_to

MODEL = "memoryweb-demo"
PACE = 0.025  # seconds a token

Wire = dict[str, Any]


class DemoTransport(httpx2.AsyncBaseTransport):
    """Answers `GET /v1/models` and `POST /v1/chat/completions` by rule; needs no network."""

    def __init__(self, pace: float = PACE) -> None:
        self.pace = pace  # seconds between two chunks of a stream

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response OpenAI's server would give, in form if not in wit."""
        match request.method, request.url.path:
            case "GET", "/v1/models":
                return httpx2.Response(200, json={"object": "list", "data": [model()]})
            case "POST", "/v1/chat/completions":
                body = await request.aread()
                return await asyncio.to_thread(self.complete, body)  # a summary takes a while
            case method, path:
                return refusal(404, f"Unknown request URL: {method} {path}.")

    def complete(self, body: bytes) -> httpx2.Response:
        """A chat completion, streamed when the request says so."""
        try:
            asked = json.loads(body)
        except ValueError:
            return refusal(400, "We could not parse the JSON body of your request.")
        if not has_messages(asked):
            return refusal(400, "'messages' must be a non-empty list of messages with a role.")
        try:
            reply = reply_to(asked)
        except (AttributeError, KeyError, TypeError) as error:
            return refusal(400, f"The messages or tools are not in OpenAI's form ({error!r}).")
        if not asked.get("stream"):
            return httpx2.Response(200, json=completion(asked, reply))
        return httpx2.Response(
            200,
            headers={"content-type": "text/event-stream; charset=utf-8"},
            stream=PacedStream(chunks(asked, reply), self.pace),
        )


class PacedStream(httpx2.AsyncByteStream):
    """Chunks as server-sent events, one every `pace` seconds, until they end or it is closed."""

    def __init__(self, chunks: Iterable[Wire], pace: float) -> None:
        self.chunks = chunks
        self.pace = pace
        self.closed = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self.chunks:
            if self.closed.is_set():
                return
            yield f"data: {json.dumps(chunk)}\n\n".encode()
            await self.rest()
        yield b"data: [DONE]\n\n"

    async def rest(self) -> None:
        """Wait for the pace, or for the close if that comes first."""
        if self.pace <= 0:
            return await asyncio.sleep(0)
        with suppress(TimeoutError):
            await asyncio.wait_for(self.closed.wait(), self.pace)

    async def aclose(self) -> None:
        self.closed.set()


def model() -> Wire:
    """The one model there is, as `GET /v1/models` lists it."""
    return {"id": MODEL, "object": "model", "created": 1767225600, "owned_by": "memoryweb"}


def refusal(status: int, message: str) -> httpx2.Response:
    """An error in OpenAI's form."""
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    return httpx2.Response(status, json={"error": error})


def has_messages(asked: object) -> bool:
    """Whether the request is an object with at least one message, each with a role."""
    messages = asked.get("messages") if isinstance(asked, dict) else None
    if not isinstance(messages, list) or not messages:
        return False
    return all(isinstance(each, dict) and isinstance(each.get("role"), str) for each in messages)


def completion(asked: Wire, reply: Reply) -> Wire:
    """The whole reply as one `chat.completion`."""
    message: Wire = {"role": "assistant", "content": reply.text or (None if reply.calls else "")}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.calls:
        message["tool_calls"] = [tool_call(call) for call in reply.calls]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish(reply)}
    return {
        **envelope(asked, "chat.completion"),
        "choices": [choice],
        "usage": usage(asked, reply),
    }


def chunks(asked: Wire, reply: Reply) -> Iterator[Wire]:
    """The reply as `chat.completion.chunk`s: role, deltas, finish reason, usage if wanted."""
    frame = envelope(asked, "chat.completion.chunk")
    counted = bool((asked.get("stream_options") or {}).get("include_usage"))
    if counted:
        frame["usage"] = None
    for delta in deltas(reply):
        yield {**frame, "choices": [choice_of(delta, None)]}
    yield {**frame, "choices": [choice_of({}, finish(reply))]}
    if counted:
        yield {**frame, "choices": [], "usage": usage(asked, reply)}


def deltas(reply: Reply) -> Iterator[Wire]:
    """The reply in small pieces: reasoning, then text, then each tool call."""
    yield {"role": "assistant", "content": None if reply.calls else "", "refusal": None}
    for token in tokens(reply.reasoning):
        yield {"reasoning_content": token}
    for token in tokens(reply.text):
        yield {"content": token}
    for index, call in enumerate(reply.calls):
        opening = tool_call(call)
        arguments = opening["function"]["arguments"]
        opening["function"]["arguments"] = ""
        yield {"tool_calls": [{"index": index, **opening}]}
        for piece in re.findall(r".{1,6}", arguments, re.DOTALL):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def tokens(text: str) -> list[str]:
    """The text in pieces of about a word, white space kept: joined they are the text."""
    return re.findall(r"\s*\S{1,16}|\s+", text)


def tool_call(call: Call) -> Wire:
    """One tool call with an id of its own."""
    function = {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
    return {"id": f"call_{uuid.uuid4().hex[:24]}", "type": "function", "function": function}


def choice_of(delta: Wire, finish_reason: str | None) -> Wire:
    """The only choice of a chunk."""
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}


def finish(reply: Reply) -> str:
    """Why the model stopped."""
    return "tool_calls" if reply.calls else "stop"


def envelope(asked: Wire, kind: str) -> Wire:
    """What every object of one reply carries."""
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": kind,
        "created": int(time.time()),
        "model": asked.get("model") or MODEL,
        "system_fingerprint": None,
    }


def usage(asked: Wire, reply: Reply) -> Wire:
    """Estimated tokens, four characters each."""
    sent = json.dumps([asked["messages"], asked.get("tools") or []], ensure_ascii=False)
    said = reply.reasoning + reply.text
    said += "".join(call.name + json.dumps(call.arguments) for call in reply.calls)
    prompt, answer = len(sent) // 4 + 1, len(said) // 4 + 1
    details = {"reasoning_tokens": len(reply.reasoning) // 4}
    return {
        "prompt_tokens": prompt,
        "completion_tokens": answer,
        "total_tokens": prompt + answer,
        "completion_tokens_details": details,
    }
