"""Every request and socket gets an id, which is in each line logged for it, and is counted."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

from structlog.contextvars import bound_contextvars

from agents.operations import counts
from memoryweb.proxies import is_trusted, value_of

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

HEADER = b"x-request-id"
ID = re.compile(r"[\w.-]{8,64}", re.ASCII)  # as a proxy may name a request
KINDS = {"v1": "api", "static": "static", "healthz": "probe", "readyz": "probe", "metrics": "probe"}


class Observed:
    """An ASGI application whose requests and sockets have ids and are counted."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self.socket(scope, receive, send)
        elif scope["type"] == "http":
            await self.request(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        counts.sockets["open"] += 1
        try:
            with bound_contextvars(socket_id=uuid4().hex[:12]):
                await self.app(scope, receive, send)
        finally:
            counts.sockets["open"] -= 1

    async def request(self, scope: Scope, receive: Receive, send: Send) -> None:
        name, began = id_of(scope), time.monotonic()

        async def noting(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                first = scope["path"].lstrip("/").partition("/")[0]
                kind = KINDS.get(first, "page")
                counts.answered(kind, message["status"], time.monotonic() - began)
                message = {**message, "headers": [*message["headers"], (HEADER, name.encode())]}
            await send(message)

        with bound_contextvars(request_id=name):
            await self.app(scope, receive, noting)


def id_of(scope: Scope) -> str:
    """The id that a trusted proxy gave the request, or a new one."""
    given = value_of(scope, HEADER)
    peer = (scope.get("client") or [""])[0]
    return given if ID.fullmatch(given) and is_trusted(peer) else uuid4().hex
