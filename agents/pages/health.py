"""`/healthz`, `/readyz` and `/metrics`: for probes, which have no session and name any host.

`/healthz` says that this process lives, and asks nobody. `/readyz` is 503 where this process cannot
serve; what was found is for administrators and for whoever asks from this machine.
"""

from __future__ import annotations

import json
from http.cookies import SimpleCookie
from secrets import compare_digest
from threading import Condition
from typing import Any

from cachetools import TTLCache, cached
from django.conf import settings

from agents.accounts import user_of_session
from agents.asyncio_bridge import in_thread
from agents.models.leaving import is_leaving
from agents.operations.checks import ESSENTIAL, carried_out
from agents.operations.checks.check import FAILED, Found
from memoryweb.middleware import refusal_reason
from memoryweb.proxies import value_of

Scope = dict[str, Any]
Answer = tuple[int, str, bytes]  # status, type of the content, content
READY_SECONDS = 3.0  # that an answer is kept, however often it is asked for
NEEDED = {"database", "migrations"}  # without others, pages can still be served


async def application(scope: Scope, receive: Any, send: Any) -> None:
    """Answer one of `PATHS`."""
    status, kind, body = await PATHS[scope["path"]](scope)
    headers = [(b"content-type", kind.encode()), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body if scope["method"] != "HEAD" else b""})


async def lives(scope: Scope) -> Answer:
    return as_json(200, {"alive": True})


async def is_ready(scope: Scope) -> Answer:
    found = await in_thread(look)
    ready = not is_leaving() and not any(
        each.state == FAILED for each in found if each.name in NEEDED
    )
    answer: dict[str, Any] = {"ready": ready}
    if is_from_here(scope) or await in_thread(is_administrator, scope):
        answer["checks"] = [each._asdict() for each in found]
    return as_json(200 if ready else 503, answer)


async def measured(scope: Scope) -> Answer:
    """For whoever has the token, or asks from this machine; for others there is nothing here."""
    given = value_of(scope, b"authorization").removeprefix("Bearer ")
    token = settings.METRICS_TOKEN
    if not (token and compare_digest(given.encode(), token.encode())) and not is_from_here(scope):
        return 404, "text/plain", b"Not found"
    # Prometheus' client is loaded where it is used
    from agents.operations import metrics  # noqa: PLC0415

    return 200, metrics.CONTENT_TYPE, await in_thread(metrics.text)


def as_json(status: int, content: Any) -> Answer:
    return status, "application/json", json.dumps(content).encode()


@cached(TTLCache(1, READY_SECONDS), condition=Condition())
def look() -> list[Found]:
    return carried_out(ESSENTIAL)


def is_from_here(scope: Scope) -> bool:
    """Whether somebody on this machine asks, and no proxy."""
    headers = {name.decode("latin-1").lower() for name, _ in scope["headers"]}
    address = scope.get("peer") or (scope.get("client") or [""])[0]
    return bool(address) and not refusal_reason(address, headers, scope["http_version"])


def is_administrator(scope: Scope) -> bool:
    """Whether the session that came along is an administrator's."""
    cookies: SimpleCookie = SimpleCookie()
    for name, value in scope["headers"]:
        if name == b"cookie":
            cookies.load(value.decode("latin-1"))
    session = cookies.get(settings.SESSION_COOKIE_NAME)
    try:
        user = user_of_session(session.value) if session else None
    except Exception:  # the database is away
        return False
    return bool(user and user.is_active and user.is_superuser)


PATHS = {"/healthz": lives, "/readyz": is_ready, "/metrics": measured}
