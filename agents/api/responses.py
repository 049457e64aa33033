"""Answers that take as long as a run: whole, or as a stream. No thread waits for either."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from agents.asyncio_bridge import in_thread
from agents.models import Message, Run
from agents.models.prepared_sql import find, read, values

from . import ids
from .errors import Refused, answer
from .messages_out import convert
from .run_stream import (
    END,
    GOES_ON,
    LOOK_SECONDS,
    Follower,
    all_lines,
    line,
    listening,
    ping,
    stopped,
    usage,
)
from .schemas.messages import Told
from .ways_on import in_a_sentence

PING_SECONDS = 20.0
PATIENCE = 40.0  # after so long an answer begins with white space: clients give up after 60 s
SPOKEN = "('assistant', 'tool')"
POLL = 0.05  # seconds, where a thread waits


class Waiting(HttpResponse):
    """An answer that the event loop waits for; see `ApiHandler.answer`."""

    def __init__(self, waits: Callable[[], Awaitable[HttpResponseBase]]) -> None:
        super().__init__()
        self.waits = waits


# -- whole -----------------------------------------------------------------------------------------


def whole(request: HttpRequest, run: Run, told: Told) -> HttpResponse:
    """All that the run says, once it rests."""
    if hasattr(request, "after_response"):
        return Waiting(lambda: when_it_rests(run, told))
    while (said := outcome(run, told)) is None:
        time.sleep(POLL)
    return as_response(said)


def outcome(run: Run, told: Told) -> dict[str, Any] | None:
    """What came of a run; None while it goes on."""
    statuses = values(Run, ("status",), "WHERE id = %s", run.pk)
    if statuses and statuses[0][0] in GOES_ON:
        return None
    now = find(Run, run.pk)
    if now is None:
        return {"error": "The run was deleted before it ended.", "run_id": None}
    now.agent = run.agent
    rows = read(Message, f"WHERE run_id = %s AND role IN {SPOKEN} ORDER BY number", run.pk)
    return {
        "messages": convert(rows, now.agent, told),
        "stop_reason": stopped(now),
        "usage": usage(now),
        "error": now.error + in_a_sentence(now) if now.status == Run.Status.FAILED else None,
        "run_id": ids.numbered("run", now.pk),
    }


def as_response(said: dict[str, Any]) -> HttpResponse:
    """502 where the model failed, which no client should try again by itself: the message is stored
    and the run can be tried again in the page."""
    if said["error"]:
        return answer(Refused(502, said["error"], **{"x-should-retry": "false"}))
    return JsonResponse(said)


async def when_it_rests(run: Run, told: Told) -> HttpResponseBase:
    """The answer; after a while one that has begun, so that no client gives up."""
    loop = asyncio.get_running_loop()
    late = loop.time() + PATIENCE
    async with listening(run.agent_id, every=False) as heard:
        while (said := await in_thread(outcome, run, told)) is None:
            if loop.time() > late:
                kept_alive = StreamingHttpResponse(breathing(run, told))
                kept_alive.headers["Content-Type"] = "application/json"
                return kept_alive
            await heard(LOOK_SECONDS)
    return as_response(said)


async def breathing(run: Run, told: Told) -> AsyncIterator[str]:
    """White space, which JSON may begin with, until the run rests; then the answer."""
    yield " "
    async with listening(run.agent_id, every=False) as heard:
        while (said := await in_thread(outcome, run, told)) is None:
            yield " "
            await heard(LOOK_SECONDS)
    yield json.dumps(said, cls=DjangoJSONEncoder)


# -- as a stream -----------------------------------------------------------------------------------


def stream(
    request: HttpRequest, run: Run, told: Told, *, tokens: bool, pings: bool, after: int = 0
) -> HttpResponseBase:
    """What the run says, as it says it."""
    follower = Follower(run, told, tokens=tokens, after=after)
    if hasattr(request, "after_response"):
        lines: Any = as_it_comes(follower, pings=pings)
    else:
        lines = all_lines(follower, lambda: time.sleep(POLL))
    response = StreamingHttpResponse(lines, content_type="text/event-stream; charset=utf-8")
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"
    return response


async def as_it_comes(follower: Follower, *, pings: bool) -> AsyncIterator[str]:
    """The stream, which goes on when the agent's events are published."""
    loop, heard_at = asyncio.get_running_loop(), float("-inf")
    async with listening(follower.agent.pk, every=True) as heard:
        while True:
            if pings and loop.time() - heard_at > PING_SECONDS:
                yield line(ping(follower.run_id))
                heard_at = loop.time()
            said = await in_thread(follower.more)
            if said:
                yield "".join(map(line, said))
                heard_at = loop.time()
            if follower.ended:
                break
            await heard(LOOK_SECONDS)
    yield END
