"""How much a request may send and how slowly, checked before anybody looks at who is asking.

`Bounded` holds any ASGI server to it. `server.py` does the same where `manage.py serve` listens, as
Daphne takes a whole body in before it calls the application.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from django.conf import settings

from agents.models.image_file import LARGEST_UPLOAD

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

MEGABYTE = 1024 * 1024
FORM = MEGABYTE  # what a form may have besides its file
IMPORT = "/agents/import"  # the page's address and the API's end so
IMAGES = "/images"  # the page's address for an upload
MESSAGES = re.compile(r"/v1/(agents|conversations)/[^/]+/messages(/stream|/async)?")
PATIENCE = 60.0  # seconds that any body may take
SLOWEST = 16 * 1024  # bytes a second, from then on


class Refusal(NamedTuple):
    """An answer to a request that was not read to its end."""

    status: int
    reason: str
    words: str

    def body(self, path: str) -> tuple[str, bytes]:
        """The type and the text of the answer: as the API gives errors, or plain."""
        if path.startswith("/v1/"):
            return "application/json", json.dumps({"detail": self.words}).encode()
        return "text/plain; charset=utf-8", self.words.encode()


def most_of(path: str) -> int:
    """The bytes that the body of a request for this path may have."""
    path = path.rstrip("/")
    if path.endswith(IMPORT):
        return int(settings.LARGEST_AGENT_FILE) + FORM
    if path.endswith(IMAGES):
        return LARGEST_UPLOAD + FORM
    if MESSAGES.fullmatch(path):
        return int(settings.LARGEST_MESSAGES)
    return int(settings.LARGEST_REQUEST)


def seconds_for(received: int) -> float:
    """How long after its headers a body may still be on its way, of which so much has come."""
    return PATIENCE + received / SLOWEST


def too_large(path: str, announced: int | None = None) -> Refusal:
    what, most, advice = "request", most_of(path), "Send less, or send it in parts."
    if most == LARGEST_UPLOAD + FORM:
        what, most, advice = "image", LARGEST_UPLOAD, "Make it smaller and try again."
    elif most == settings.LARGEST_AGENT_FILE + FORM:
        what, most = "agent file", settings.LARGEST_AGENT_FILE
        advice = "Export the agent with fewer messages."
    size = f"{announced / MEGABYTE:,.1f}" if announced else f"more than {most // MEGABYTE}"
    words = f"The {what} has {size} MB; at most {most // MEGABYTE} MB are allowed. {advice}"
    return Refusal(413, "Content Too Large", words)


def too_slow() -> Refusal:
    rate = f"at least {SLOWEST // 1024} kB a second must arrive after {PATIENCE:.0f} s"
    words = f"The request came too slowly: {rate}. Try again on a faster connection."
    return Refusal(408, "Request Timeout", words)


def announced_length(scope: Scope) -> int | None:
    """The length that a request announces; None where it announces none."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit() and len(value) < 20:
            return int(value)
    return None


class Refused(Exception):
    """Ends the reading of a body."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.words)
        self.refusal = refusal


class Bounded:
    """An ASGI application whose requests send no more, and no slower, than they may."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, announced = scope["path"], announced_length(scope)
        if announced is not None and announced > most_of(path):
            await refuse(too_large(path, announced), path, send)
        elif announced == 0:
            await self.app(scope, receive, send)
        else:
            try:
                await self.app(scope, bounded(path, receive), send)
            except Refused as error:  # the body is read before anything is answered
                await refuse(error.refusal, path, send)


def bounded(path: str, receive: Receive) -> Receive:
    """A `receive` that raises Refused where the body becomes too large, or comes too slowly."""
    began, most, received, ended = time.monotonic(), most_of(path), 0, False

    async def receive_bounded() -> dict[str, Any]:
        nonlocal received, ended
        if ended:
            return await receive()
        left = began + seconds_for(received) - time.monotonic()
        try:
            async with asyncio.timeout(max(left, 0)):
                message = await receive()
        except TimeoutError:
            raise Refused(too_slow()) from None
        received += len(message.get("body", b""))
        ended = not message.get("more_body", False)
        if received > most:
            raise Refused(too_large(path))
        return message

    return receive_bounded


async def refuse(refusal: Refusal, path: str, send: Send) -> None:
    kind, body = refusal.body(path)
    headers = [
        (b"content-type", kind.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        (b"x-content-type-options", b"nosniff"),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
