"""The API's own ASGI handler, without the pages' middleware: one thread a request.

The pages' middleware (sessions, messages, allauth) costs several times as much as an answer of the
API, and a new thread with a new database connection for each request. The API needs none of it:
`auth.py` says who asks, and `errors.py` answers every exception.
"""

from __future__ import annotations

import asyncio
import logging
from hashlib import sha256
from typing import Any

from asgiref.sync import iscoroutinefunction
from cachetools import LRUCache
from django.conf import settings
from django.core.exceptions import RequestAborted, SuspiciousOperation
from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.http.response import HttpResponseBase
from django.urls import resolve, set_script_prefix

from agents.asyncio_bridge import in_thread, on_behalf_of
from agents.models.audit import asked_by

from .errors import Refused, answer, refused

logger = logging.getLogger(__name__)
Scope = dict[str, Any]

_people: LRUCache[bytes, int] = LRUCache(10_000)  # by a digest of their credentials


class ApiHandler(ASGIHandler):
    """Answers the addresses under /v1/."""

    def __init__(self) -> None:
        """No middleware."""

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        credentials = digest_of(scope)
        if settings.ACCOUNTS and credentials:
            on_behalf_of.set(_people.get(credentials, credentials))
        set_script_prefix("/")
        try:
            request = ASGIRequest(scope, body)
            request.after_response = []  # type: ignore[attr-defined]
            disconnected = asyncio.create_task(self.listen_for_disconnect(receive))
            answering = asyncio.create_task(self.answer(request, send))
            try:
                await asyncio.wait([disconnected, answering], return_when=asyncio.FIRST_COMPLETED)
            finally:
                disconnected.cancel()
                answering.cancel()
                await asyncio.gather(disconnected, answering, return_exceptions=True)
            if person := getattr(request, "auth", None):
                _people[credentials] = person.pk
            for late in request.after_response:  # type: ignore[attr-defined]
                await in_thread(late)
        finally:
            body.close()

    async def answer(self, request: ASGIRequest, send: Any) -> None:
        """Send the view's response; one that takes as long as a run is awaited without a thread."""
        response = await in_thread(respond, request)
        if waits := getattr(response, "waits", None):
            response = await waits()
        response.headers.setdefault("Cache-Control", "no-store")
        response.headers.setdefault("X-Content-Type-Options", "nosniff")
        if settings.SECURE_HSTS_SECONDS and request.is_secure():
            seconds = settings.SECURE_HSTS_SECONDS
            response.headers["Strict-Transport-Security"] = f"max-age={seconds}"
        await self.send_response(response, send)


def digest_of(scope: Scope) -> bytes:
    """A digest of the request's token or session, which `auth` checks later; b"" without one."""
    headers = [value for name, value in scope["headers"] if name in (b"authorization", b"cookie")]
    return sha256(b"\0".join(headers)).digest() if headers else b""


def respond(request: ASGIRequest) -> HttpResponseBase:
    """Find the view and call it; every exception becomes an answer."""
    try:
        request.get_host()  # DisallowedHost unless it is one of this server's names
        match = resolve(request.path_info)
        request.resolver_match = match
        assert not iscoroutinefunction(match.func)
        with asked_by(request):
            response: HttpResponseBase = match.func(request, *match.args, **match.kwargs)
        return response
    except SuspiciousOperation:
        return answer(Refused(400, "The request's Host is not one of this server's names."))
    except Exception as error:
        return answer(refused(error))


application = ApiHandler()
