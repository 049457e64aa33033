"""How much a request may send and how slowly, checked before anybody looks at who is asking.

`Bounded` holds any ASGI server to it. `server.py` does the same where `manage.py serve` listens, as
Daphne takes a whole body in before it calls the application.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from django.conf import settings
from django.http import HttpRequest, parse_cookie
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.functional import Promise, lazy
from django.utils.text import format_lazy
from django.utils.translation import get_language_from_request, gettext
from django.utils.translation import gettext_lazy as _

from agents.models.image_file import LARGEST_UPLOAD
from agents.text.numbers import decimal
from memoryweb.middleware import POLICY

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

MEGABYTE = 1024 * 1024
FORM = MEGABYTE  # what a form may have besides its file
IMPORT = "/agents/import"  # the page's address and the API's end so
IMAGES, FILES = "/images", "/files"  # the page's addresses for an upload
MESSAGES = re.compile(r"/v1/(agents|conversations)/[^/]+/messages(/stream|/async)?")
PATIENCE = 60.0  # seconds that any body may take
SLOWEST = 16 * 1024  # bytes a second, from then on


class Refusal(NamedTuple):
    """An answer to a request that was not read to its end."""

    status: int
    reason: str
    words: str | Promise  # in the language of whoever asks, when it is answered

    def answer(self, path: str, headers: Mapping[bytes, bytes]) -> tuple[dict[str, str], bytes]:
        """The headers and the text of the answer: as the API gives errors, a page for who sent a
        form, else plain, as the scripts of a page show it."""
        with translation.override(language_of(path, headers)):
            kind, text = "text/plain; charset=utf-8", str(self.words)
            if path.startswith("/v1/"):
                kind, text = "application/json", json.dumps({"detail": text})
            elif b"text/html" in headers.get(b"accept", b"") and b"hx-request" not in headers:
                kind = "text/html; charset=utf-8"
                text = render_to_string("413.html", {"error": text})
        body = text.encode()
        return {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Content-Security-Policy": POLICY,
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
            "Connection": "close",
        }, body


def language_of(path: str, headers: Mapping[bytes, bytes]) -> str:
    """The language of a page, of which nothing but the headers came; the API's is English."""
    if path.startswith("/v1/"):
        return settings.LANGUAGE_CODE
    request = HttpRequest()
    request.META["HTTP_ACCEPT_LANGUAGE"] = headers.get(b"accept-language", b"").decode("latin-1")
    request.COOKIES = parse_cookie(headers.get(b"cookie", b"").decode("latin-1"))
    return get_language_from_request(request)


def most_of(path: str) -> int:
    """The bytes that the body of a request for this path may have."""
    path = path.rstrip("/")
    if path.endswith(IMPORT):
        return int(settings.LARGEST_AGENT_FILE) + FORM
    if path.endswith((IMAGES, FILES)):
        return LARGEST_UPLOAD + FORM
    if MESSAGES.fullmatch(path):
        return int(settings.LARGEST_MESSAGES)
    return int(settings.LARGEST_REQUEST)


def seconds_for(received: int) -> float:
    """How long after its headers a body may still be on its way, of which so much has come."""
    return PATIENCE + received / SLOWEST


def too_large(path: str, announced: int | None = None) -> Refusal:
    words = lazy(too_large_in_words, str)(most_of(path), announced)
    return Refusal(413, "Content Too Large", words)


def too_large_in_words(most: int, announced: int | None) -> str:
    words = gettext(
        "The request has %(size)s MB; at most %(most)s MB are allowed. Send less, or send it in"
        " parts."
    )
    if most == LARGEST_UPLOAD + FORM:
        most = LARGEST_UPLOAD
        words = gettext(
            "The file has %(size)s MB; at most %(most)s MB are allowed. Make it smaller, or split"
            " it."
        )
    elif most == settings.LARGEST_AGENT_FILE + FORM:
        most = settings.LARGEST_AGENT_FILE
        words = gettext(
            "The agent file has %(size)s MB; at most %(most)s MB are allowed. Export the agent with"
            " fewer messages."
        )
    if announced:
        size = decimal(announced / MEGABYTE)
    else:
        size = gettext("more than %(count)s") % {"count": most // MEGABYTE}
    return words % {"size": size, "most": most // MEGABYTE}


def too_slow() -> Refusal:
    words = format_lazy(
        _(
            "The request came too slowly: at least {kilobytes} kB a second must arrive after"
            " {seconds} s. Try again on a faster connection."
        ),
        kilobytes=SLOWEST // 1024,
        seconds=round(PATIENCE),
    )
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
        super().__init__(refusal.reason)
        self.refusal = refusal


class Bounded:
    """An ASGI application whose requests send no more, and no slower, than they may."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, announced = scope["path"], announced_length(scope)
        if announced is not None and announced > most_of(path):
            await refuse(too_large(path, announced), scope, send)
        elif announced == 0:
            await self.app(scope, receive, send)
        else:
            try:
                await self.app(scope, bounded(path, receive), send)
            except Refused as error:  # the body is read before anything is answered
                await refuse(error.refusal, scope, send)


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


async def refuse(refusal: Refusal, scope: Scope, send: Send) -> None:
    headers, body = refusal.answer(scope["path"], dict(scope["headers"]))
    pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": refusal.status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
