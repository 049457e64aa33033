"""Any OpenAI-compatible server, through the official client.

The client is asynchronous and lives on the background loop, so that a call can be closed while
the model is silent. The loop of an agent sees a plain object: `wait()` for what came, `close()`.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Collection
from typing import Any, cast

from openai import AsyncStream
from openai._streaming import ServerSentEvent, SSEDecoder

from agents import asyncio_bridge

from .answer import Answer
from .clients import client
from .endpoints import Endpoint, ModelError
from .errors import in_words
from .thoughts import Delta

BEAT = re.compile(r"\s*(:|$)")  # keeps the connection alive: opencode 50871, openai-python 2722
MARK = "\ufeff"  # a byte order mark, with which some proxies begin


class Decoder(SSEDecoder):
    """The client's, for a stream that begins with a byte order mark."""

    def decode(self, line: str) -> ServerSentEvent | None:
        return super().decode(line.removeprefix(MARK))


class Stream(AsyncStream[object]):
    """The client's stream, which also tells whether the server said that it is done."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self._decoder = Decoder()
        self.done = False

    async def _iter_events(self) -> AsyncIterator[ServerSentEvent]:
        async for event in super()._iter_events():
            self.done = self.done or event.data.startswith("[DONE]")
            if not BEAT.match(event.data):
                yield event


class ModelCall:
    """One streamed request. `wait()` from one thread; `close()` from any."""

    def __init__(self, endpoint: Endpoint, body: bytes, tools: Collection[str] = ()) -> None:
        self.endpoint = endpoint
        self.tools = tools
        self.answer = Answer()
        self._body = body
        self._deltas: deque[Delta] = deque()
        self._ready = threading.Event()
        self._error: ModelError | None = None
        self._done = threading.Event()
        self._task = asyncio.run_coroutine_threadsafe(self._stream(), asyncio_bridge.loop())

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
                stream_cls=Stream,
            )
            async for chunk in self._chunks(stream):
                if deltas := self.answer.add(chunk):
                    self._deltas.extend(deltas)
                    self._ready.set()
            self.answer.end(self.tools)
            self._check_whole(stream.done)
        except ModelError as error:
            self._error = error
        except Exception as error:
            self._error = in_words(error, self.endpoint)
        finally:
            self._done.set()
            self._ready.set()

    async def _chunks(self, stream: Stream) -> AsyncIterator[dict[str, Any]]:
        """The chunks; the whole answer at once where the server does not stream."""
        kind = stream.response.headers.get("content-type", "")
        if kind.startswith("application/json"):
            yield json.loads(await stream.response.aread())
            stream.done = True
            return
        async for chunk in stream:
            yield cast("dict[str, Any]", chunk)

    def _check_whole(self, done: bool) -> None:
        answer = self.answer
        if not (answer.finish or done):
            raise ModelError(f"The answer of {self.endpoint} broke off.", retry=True)
        if not answer.content.strip() and not answer.calls:
            only = "thoughts and no answer" if answer.reasoning.strip() else "an empty answer"
            raise ModelError(f"{self.endpoint} sent {only}.", retry=True, empty=True)
