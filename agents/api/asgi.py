"""The API's way past the pages' middleware: one visit to a thread for each request.

The pages' middleware (sessions, messages, allauth) costs several times what an answer of the API
does, and a new thread with a new database connection for each request. The API needs none of it:
its door is `door.py`, and its errors never leave `errors.py`.
"""

from __future__ import annotations

import asyncio
import logging
from hashlib import sha256
from typing import Any

from asgiref.sync import iscoroutinefunction
from cachetools import LRUCache
from django.conf import settings
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.urls import resolve, set_script_prefix

from agents.asyncio_bridge import in_thread, on_behalf_of

from .errors import Refused, answer, refused

logger = logging.getLogger(__name__)
Scope = dict[str, Any]

_people: LRUCache[bytes, int] = LRUCache(10_000)  # by a digest of what they show


class ApiHandler(ASGIHandler):
    """What is below /v1/."""

    def __init__(self) -> None:
        """No middleware."""

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        shown = shown_by(scope)
        if settings.ACCOUNTS and shown:
            on_behalf_of.set(_people.get(shown, shown))
        set_script_prefix("/")
        try:
            request = ASGIRequest(scope, body)
            request.after_response = []  # type: ignore[attr-defined]
            gone = asyncio.create_task(self.listen_for_disconnect(receive))
            answering = asyncio.create_task(self.answer(request, send))
            try:
                await asyncio.wait([gone, answering], return_when=asyncio.FIRST_COMPLETED)
            finally:
                gone.cancel()
                answering.cancel()
                await asyncio.gather(gone, answering, return_exceptions=True)
            if person := getattr(request, "auth", None):
                _people[shown] = person.pk
            for late in request.after_response:  # type: ignore[attr-defined]
                await in_thread(late)
        finally:
            body.close()

    async def answer(self, request: ASGIRequest, send: Any) -> None:
        """Send what the view gives; where it is to be waited for, here, holding no thread."""
        response = await in_thread(respond, request)
        if waits := getattr(response, "waits", None):
            response = await waits()
        response.headers.setdefault("Cache-Control", "no-store")
        response.headers.setdefault("X-Content-Type-Options", "nosniff")
        if settings.SECURE_HSTS_SECONDS and request.is_secure():
            seconds = settings.SECURE_HSTS_SECONDS
            response.headers["Strict-Transport-Security"] = f"max-age={seconds}"
        await self.send_response(response, send)


def shown_by(scope: Scope) -> bytes:
    """A digest of the token or session that a request shows; whose it is, the door finds out."""
    shown = [value for name, value in scope["headers"] if name in (b"authorization", b"cookie")]
    return sha256(b"\0".join(shown)).digest() if shown else b""


def respond(request: ASGIRequest) -> HttpResponseBase:
    """Find the view and call it; whatever goes wrong is an answer."""
    try:
        request.get_host()  # DisallowedHost unless it is one of this server's names
        match = resolve(request.path_info)
        request.resolver_match = match
        assert not iscoroutinefunction(match.func)
        response: HttpResponseBase = match.func(request, *match.args, **match.kwargs)
        return response
    except Exception as error:
        return told(error)


def told(error: Exception) -> HttpResponse:
    """An exception outside of any operation."""
    from django.core.exceptions import SuspiciousOperation

    if isinstance(error, SuspiciousOperation):
        return answer(Refused(400, "The request cannot be served: its Host is not this server's."))
    return answer(refused(error))


application = ApiHandler()
