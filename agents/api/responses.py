"""Answers that take as long as a run: whole, or as a stream. No thread waits for them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from agents.asyncio_bridge import in_thread
from agents.models import Message, Run

from . import ids
from .errors import Refused, answer
from .in_turn import InTurn, Result, one_after_the_other
from .json_router import json_response
from .messages_out import REQUEST, convert, requests_of
from .run_stream import (
    END,
    LOOK_SECONDS,
    NOT_ENDED,
    Follower,
    News,
    line,
    listening,
    ping,
    stopped,
    usage,
)
from .schemas.messages import MessageOptions
from .ways_on import in_a_sentence

PING_SECONDS = 20.0
PATIENCE = 40.0  # seconds until white space is sent: clients give up after 60 s of silence
ANSWERS = (Message.Role.ASSISTANT, Message.Role.TOOL)
POLL = 0.05  # seconds, where a thread waits


class Waiting(HttpResponse):
    """An answer that the event loop waits for; see `ApiHandler.answer`."""

    def __init__(self, waits: Callable[[], Awaitable[HttpResponseBase]]) -> None:
        super().__init__()
        self.waits = waits


# -- whole -----------------------------------------------------------------------------------------


def whole(
    request: HttpRequest,
    run: Run,
    options: MessageOptions,
    seen: int = -1,
    then: Run | None = None,
) -> HttpResponse:
    """The messages of the run after the number `seen`, once it rests, and those of the run that
    begins then."""
    result: Result = partial(outcome, run, options, seen)
    if then is not None:
        result = partial(one_after_the_other, result, partial(outcome, then, options))
    return once(request, run, result)


def once(request: HttpRequest, run: Run, result: Result) -> HttpResponse:
    """What `result` gives, once it gives anything; the run's agent tells when to look."""
    if hasattr(request, "after_response"):
        return Waiting(lambda: when_it_rests(run, result))
    while (found := result()) is None:
        time.sleep(POLL)
    return as_response(found)


def outcome(run: Run, options: MessageOptions, seen: int = -1) -> dict[str, Any] | None:
    """The result of a run, without the messages up to the number `seen`; None until it rests."""
    if run.stored_status() in NOT_ENDED:
        return None
    now = Run.find(run.pk)
    if now is None:
        return {"error": "The run was deleted before it ended.", "run_id": None}
    now.agent = run.agent
    rows = [row for row in now.stored_messages(seen) if row.role in ANSWERS]
    messages = convert(rows, now.agent, options)
    shown = {message["id"] for message in messages if message["message_type"] == REQUEST}
    asked = [message for _, message in requests_of(now, options) if message["id"] not in shown]
    return {
        "messages": messages + asked,
        "stop_reason": stopped(now),
        "usage": usage(now, seen),
        "error": now.error + in_a_sentence(now) if now.status == Run.Status.FAILED else None,
        "run_id": ids.numbered("run", now.pk),
    }


def as_response(result: dict[str, Any]) -> HttpResponse:
    """The result, or 502 if the model failed.

    Clients should not repeat the request then: the message is stored, and the run can be retried.
    """
    if result.get("error"):
        return answer(Refused(502, result["error"], **{"x-should-retry": "false"}))
    return json_response(result)


async def when_it_rests(run: Run, result: Result) -> HttpResponseBase:
    """The answer; after a while it starts with white space, so that the client does not give up."""
    loop = asyncio.get_running_loop()
    late = loop.time() + PATIENCE
    async with listening(run.agent_id, every=False) as wait:
        while (found := await in_thread(result)) is None:
            if loop.time() > late:
                kept_alive = StreamingHttpResponse(breathing(run, result))
                kept_alive.headers["Content-Type"] = "application/json"
                return kept_alive
            await wait(LOOK_SECONDS)
    return as_response(found)


async def breathing(run: Run, result: Result) -> AsyncIterator[str]:
    """White space, with which JSON may start, until the run rests; then the answer."""
    yield " "
    async with listening(run.agent_id, every=False) as wait:
        while (found := await in_thread(result)) is None:
            yield " "
            await wait(LOOK_SECONDS)
    yield json.dumps(found)


# -- as a stream -----------------------------------------------------------------------------------


def stream(
    request: HttpRequest,
    run: Run,
    options: MessageOptions,
    *,
    tokens: bool,
    pings: bool,
    after: int = 0,
    seen: int = -1,
    then: Run | None = None,
) -> HttpResponseBase:
    """The messages of the run after the number `seen`, as they are written, and those of the run
    that begins then."""
    first = Follower(run, options, tokens=tokens, after=after, seen=seen)
    second = Follower(then, options, tokens=tokens) if then else None
    follower = InTurn(first, second) if second else first
    if hasattr(request, "after_response"):
        lines: Any = events(follower, pings=pings)
    else:
        lines = all_lines(follower)
    response = StreamingHttpResponse(lines, content_type="text/event-stream; charset=utf-8")
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"
    return response


def all_lines(follower: Follower | InTurn) -> Iterator[str]:
    """The stream, for a server that uses a thread for each request."""
    while not follower.ended:
        yield from map(line, follower.more())
        if not follower.ended:
            time.sleep(POLL)
    yield END


async def events(follower: Follower | InTurn, *, pings: bool) -> AsyncIterator[str]:
    """The stream, which continues when the agent's events are published."""
    loop, sent_at = asyncio.get_running_loop(), float("-inf")
    async with listening(follower.agent.pk, every=True) as wait:
        news = News([], look=True)
        while True:
            if pings and loop.time() - sent_at > PING_SECONDS:
                yield line(ping(follower.run_id))
                sent_at = loop.time()
            items = await in_thread(follower.more) if news.look else []
            items += follower.pieces(news.pieces)
            if items:
                yield "".join(map(line, items))
                sent_at = loop.time()
            if follower.ended:
                break
            news = await wait(LOOK_SECONDS)
    yield END
