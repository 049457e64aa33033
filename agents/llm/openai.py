"""Any OpenAI-compatible server, through the official client.

The client is asynchronous and lives on the background loop, so that a call can be closed while
the model is silent. The loop of an agent sees a plain object: `wait()` for what came, `close()`.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple, cast

import httpx2
from django.conf import settings
from openai import (
    APIConnectionError,
    APIError,
    APIStatusError,
    APITimeoutError,
    AsyncOpenAI,
    AsyncStream,
    DefaultAsyncHttpxClient,
)

from agents import background
from agents.models import ToolCall
from agents.models.message import storable

from .endpoints import Endpoint, ModelError

CONNECT_SECONDS = 10.0
MOST_CALLS = 128  # in one message, as the API has it for tools
LONGEST_WAIT = 60.0  # seconds; a longer Retry-After is not waited out


class Delta(NamedTuple):
    """A piece of a message: text for the person, or the model's reasoning."""

    field: str  # "content" or "reasoning"
    text: str


@dataclass
class Answer:
    """What a model said, put together from its chunks."""

    content: str = ""
    reasoning: str = ""
    calls: list[dict[str, str]] = field(default_factory=list)
    finish: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None

    def add(self, chunk: dict[str, Any]) -> list[Delta]:
        """Take a `chat.completion.chunk` in; what it adds that a person can read."""
        if usage := chunk.get("usage"):
            self.prompt_tokens = usage.get("prompt_tokens")
            self.completion_tokens = usage.get("completion_tokens")
        if not chunk.get("choices"):
            return []
        choice = chunk["choices"][0]
        self.finish = choice.get("finish_reason") or self.finish
        delta, deltas = choice.get("delta") or {}, []
        if thought := delta.get("reasoning_content") or delta.get("reasoning"):
            thought = storable(str(thought))
            self.reasoning += thought
            deltas.append(Delta("reasoning", thought))
        if text := delta.get("content") or delta.get("refusal"):
            text = storable(str(text))
            self.content += text
            deltas.append(Delta("content", text))
        for piece in delta.get("tool_calls") or []:
            self._add_call(piece)
        return deltas

    def _add_call(self, piece: dict[str, Any]) -> None:
        """Calls come in pieces, told apart by index, or where a server sends none, by id."""
        index = piece.get("index")
        if index is None:
            index = len(self.calls) - (not piece.get("id") and bool(self.calls))
        if not 0 <= index < MOST_CALLS:
            raise ValueError(f"tool call number {index}")
        while len(self.calls) <= index:
            self.calls.append({"id": "", "name": "", "arguments": ""})
        call, function = self.calls[index], piece.get("function") or {}
        call["id"] = call["id"] or piece.get("id") or ""
        call["name"] += function.get("name") or ""
        call["arguments"] += function.get("arguments") or ""

    def tool_calls(self) -> list[ToolCall]:
        """The calls, with ids and names that an endpoint takes back in the next request.

        Ids are unique within the message and at most 40 characters; names at most 64 of
        `[a-zA-Z0-9_-]`.
        """
        seen: set[str] = set()
        calls = []
        for number, call in enumerate(self.calls, 1):
            call_id = storable(call["id"])[:40]
            if not call_id or call_id in seen:
                call_id = f"{call_id[:32] or 'call'}_{number}"
            seen.add(call_id)
            name = re.sub(r"[^a-zA-Z0-9_-]", "_", call["name"])[:64] or "unnamed"
            calls.append(ToolCall(call_id, name, storable(call["arguments"])))
        return calls


class ModelCall:
    """One streamed request. `wait()` from one thread; `close()` from any."""

    def __init__(self, endpoint: Endpoint, body: bytes) -> None:
        self.endpoint = endpoint
        self.answer = Answer()
        self._body = body
        self._deltas: deque[Delta] = deque()
        self._ready = threading.Event()
        self._error: ModelError | None = None
        self._done = threading.Event()
        self._task = asyncio.run_coroutine_threadsafe(self._stream(), background.loop())

    def wait(self, seconds: float, until: float = 0.0) -> list[Delta] | None:
        """What came: waits `seconds` for a first piece, then till `until` (monotonic) for more.

        [] if nothing came, None when all is said. Raises ModelError where the call failed.
        """
        self._ready.wait(seconds)
        if self._deltas and (more := until - time.monotonic()) > 0:
            self._done.wait(more)
        self._ready.clear()
        deltas = [self._deltas.popleft() for _ in range(len(self._deltas))]
        if not self._done.is_set() or self._deltas:
            return deltas
        if self._error:
            raise self._error
        return None

    def close(self) -> None:
        """Close the request, whether or not the model is silent."""
        self._task.cancel()

    async def _stream(self) -> None:
        try:
            stream = await client(self.endpoint).post(
                "/chat/completions",
                content=self._body,
                cast_to=object,  # as parsed from JSON: building models costs more than all else
                options={"headers": {"Content-Type": "application/json"}},
                stream=True,
                stream_cls=AsyncStream[object],
            )
            async for chunk in stream:
                if deltas := self.answer.add(cast("dict[str, Any]", chunk)):
                    self._deltas.extend(deltas)
                    self._ready.set()
            self._check_whole()
        except ModelError as error:
            self._error = error
        except Exception as error:
            self._error = in_words(error, self.endpoint)
        finally:
            self._done.set()
            self._ready.set()

    def _check_whole(self) -> None:
        answer = self.answer
        if not answer.finish:
            raise ModelError(f"The answer of {self.endpoint} broke off.", retry=True)
        if not answer.content.strip() and not answer.calls:
            raise ModelError(f"{self.endpoint} sent an empty answer.", retry=True)


@cache
def client(endpoint: Endpoint) -> AsyncOpenAI:
    """The endpoint's client; made and used on the background loop only."""
    transport: httpx2.AsyncClient = DefaultAsyncHttpxClient(verify=_certificates())
    if endpoint.is_demo:
        from .demo import DemoTransport

        transport = httpx2.AsyncClient(transport=DemoTransport())
    return AsyncOpenAI(
        base_url=endpoint.base_url,
        api_key=endpoint.api_key,
        max_retries=0,
        timeout=httpx2.Timeout(settings.MODEL_TIMEOUT, connect=CONNECT_SECONDS),
        http_client=transport,
    )


@cache
def _certificates() -> ssl.SSLContext:
    """Read once: it takes a tenth of a second."""
    return ssl.create_default_context()


def list_models(endpoint: Endpoint, seconds: float = CONNECT_SECONDS) -> dict[str, dict[str, Any]]:
    """An endpoint's models by name, each with all it says of it. ModelError if it is silent."""

    async def ask() -> dict[str, dict[str, Any]]:
        models = client(endpoint).models.list(timeout=seconds)
        return {model.id: model.to_dict() async for model in models}

    try:
        return asyncio.run_coroutine_threadsafe(ask(), background.loop()).result()
    except Exception as error:
        raise in_words(error, endpoint) from error


def in_words(error: Exception, endpoint: Endpoint) -> ModelError:
    """What went wrong with a call, named in a sentence, and whether to try again."""
    if isinstance(error, APITimeoutError):
        return ModelError(
            f"{endpoint} sent nothing for {settings.MODEL_TIMEOUT:g} s (MEMORYWEB_MODEL_TIMEOUT).",
            retry=True,
        )
    if isinstance(error, APIConnectionError):
        cause = error.__cause__
        if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout):
            return ModelError(f"Nothing answers at {endpoint}; is the server running?", retry=True)
        return ModelError(f"The answer of {endpoint} broke off.", retry=True)
    if isinstance(error, APIStatusError):
        return _status_in_words(error, endpoint)
    if isinstance(error, APIError):
        return ModelError(f"{endpoint} broke off with an error: {error.message}", retry=True)
    if isinstance(error, ValueError | TypeError | AttributeError | LookupError):
        return ModelError(f"{endpoint} sent something that is no answer ({error}).", retry=True)
    return ModelError(f"The call of {endpoint} failed: {type(error).__name__}: {error}")


def _status_in_words(error: APIStatusError, endpoint: Endpoint) -> ModelError:
    status, said = error.status_code, _said(error)
    if status == 401:
        return ModelError(f"{endpoint} refused the key (401: {said}); check OPENAI_API_KEY.")
    if status == 404:
        return ModelError(
            f"{endpoint} has no such model or address (404: {said});"
            " choose another model in the agent's settings."
        )
    if status == 429:
        wait = _retry_after(error)
        too_far = wait is not None and wait > LONGEST_WAIT
        return ModelError(
            f"{endpoint} takes no more requests now (429: {said})"
            + (f"; it asks to wait {wait:,.0f} s." if wait else "."),
            retry=not too_far,
            retry_after=wait,
        )
    if status >= 500:
        return ModelError(
            f"{endpoint} failed ({status}: {said}).", retry=True, retry_after=_retry_after(error)
        )
    too_long = getattr(error, "code", None) == "context_length_exceeded"
    return ModelError(f"{endpoint} refused the request ({status}: {said}).", too_long=too_long)


def _said(error: APIStatusError) -> str:
    body = error.body
    message = body.get("message") if isinstance(body, dict) else None
    return str(message or error.message)[:500]


def _retry_after(error: APIStatusError) -> float | None:
    try:
        return max(0.0, float(error.response.headers["retry-after"]))
    except (KeyError, ValueError):
        return None
