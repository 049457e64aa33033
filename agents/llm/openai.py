"""Any OpenAI-compatible server, through the official client.

The client is asynchronous and lives on the background loop, so that a call can be closed while
the model is silent. The loop of an agent sees a plain object: `wait()` for new pieces, `close()`.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from collections import deque
from collections.abc import Collection
from typing import Any, cast

from openai import APITimeoutError, AsyncStream
from openai._streaming import ServerSentEvent, SSEDecoder

from agents import asyncio_bridge
from agents.text.stored import stored as _

from . import health
from .answer import Answer
from .clients import client
from .endpoints import ModelError
from .errors import broken_off, model_error
from .spending import Spending
from .thoughts import Delta

ONLY_THOUGHTS = _("%(endpoint)s sent its thoughts but no answer.")
EMPTY = _("%(endpoint)s sent an empty answer.")

BEAT = re.compile(r"\s*(:|$)")  # keeps the connection alive: opencode 50871, openai-python 2722
MARK = "\ufeff"  # a byte order mark, with which some proxies begin


class Decoder(SSEDecoder):
    """The client's, which passes over what only keeps the connection alive, and notes the end.

    A stream may begin with a byte order mark.
    """

    def __init__(self) -> None:
        super().__init__()
        self.done = False  # the server said that this is all

    def decode(self, line: str) -> ServerSentEvent | None:
        event = super().decode(line.removeprefix(MARK))
        if event is None or BEAT.match(event.data):
            return None
        self.done = self.done or event.data.startswith("[DONE]")
        return event


class Stream(AsyncStream[object]):
    """The client's stream, with a decoder of our own."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._decoder = self.decoder = Decoder()


class ModelCall:
    """One streamed request, of what was reserved for it. `wait()` from one thread; `close()` from
    any."""

    def __init__(self, spending: Spending, body: bytes, tools: Collection[str] = ()) -> None:
        self.endpoint = spending.endpoint
        self.spending = spending
        self.tools = tools
        self.answer = Answer()
        spending.begin(self.answer)
        self.streams: bool | None = None  # whether the server does; not known yet
        self._body = body
        self._deltas: deque[Delta] = deque()
        self._ready = threading.Event()
        self._error: ModelError | None = None
        self._done = threading.Event()
        self._task = asyncio.run_coroutine_threadsafe(self._stream(), asyncio_bridge.loop())

    def wait(self, seconds: float, until: float = 0.0) -> list[Delta] | None:
        """New pieces: waits `seconds` for the first, then until `until` (monotonic) for more.

        [] if nothing came, None at the end: what came last is in `answer` and is returned no more.
        Raises ModelError where the call failed.
        """
        self._ready.wait(seconds)
        if self._deltas and (more := until - time.monotonic()) > 0:
            self._done.wait(more)
        self._ready.clear()
        if not self._done.is_set():
            return [self._deltas.popleft() for _ in range(len(self._deltas))]
        if self._error:
            raise self._error
        return None

    def close(self) -> None:
        """Close the request, whether or not the model is silent."""
        self._task.cancel()

    async def _stream(self) -> None:
        stream: Stream | None = None
        try:
            stream = await client(self.endpoint).post(
                "/chat/completions",
                content=self._body,
                cast_to=object,  # as parsed from JSON: building models costs more than all else
                options={"headers": {"Content-Type": "application/json"}},
                stream=True,
                stream_cls=Stream,
            )
            kind = stream.response.headers.get("content-type", "")
            self.streams = not kind.startswith("application/json")
            if not self.streams:
                self._add(json.loads(await stream.response.aread()))
                stream.decoder.done = True
            else:
                async for chunk in stream:
                    self._add(cast("dict[str, Any]", chunk))
            self.answer.end(self.tools)
            self._check_whole(stream.decoder.done)
        except ModelError as error:
            self._error = error
        except Exception as error:
            self.spending.is_free = stream is None and not isinstance(error, APITimeoutError)
            self._error = model_error(error, self.endpoint)
        finally:
            self._done.set()
            self._ready.set()
        health.note(self.endpoint, self._error)

    def _add(self, chunk: dict[str, Any]) -> None:
        if deltas := self.answer.add(chunk):
            self._deltas.extend(deltas)
            if not self._ready.is_set():
                self._ready.set()

    def _check_whole(self, done: bool) -> None:
        answer = self.answer
        if not (answer.finish or done):
            raise broken_off(self.endpoint)
        if not answer.content.strip() and not answer.calls:
            words = ONLY_THOUGHTS if answer.reasoning.strip() else EMPTY
            raise ModelError(words % {"endpoint": self.endpoint}, retry=True, empty=True)
