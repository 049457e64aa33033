"""Who sends a request and over which scheme, where proxies of the operator's pass it on.

This is the one place that reads what a proxy says. What it finds becomes the request's own client
and scheme, so that Django, allauth and the logs need not know of proxies. The address that the
connection really came from stays in the scope as `peer`: whether a request is of this machine is
decided by that alone (`middleware.refusal_reason`).
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any
from urllib.parse import quote

from cachetools import TTLCache
from django.conf import settings

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Address = IPv4Address | IPv6Address

logger = logging.getLogger(__name__)
SAID_BY_PROXIES = (b"x-forwarded-for", b"x-forwarded-proto")
PROBES = {"/healthz", "/readyz", "/metrics"}  # asked by the operator's own programs, without TLS
NOT_TRUSTED = (
    "This request came through a proxy whose word memoryweb does not take, so it cannot tell that"
    " it came over TLS. Name the proxy's address in MEMORYWEB_TRUSTED_PROXIES; the log has it."
)
NO_SCHEME = (
    "This request came through a proxy that does not say whether it came over TLS. Have the proxy"
    " set the header X-Forwarded-Proto."
)
_warned: TTLCache[str, bool] = TTLCache(100, ttl=3600)  # peers that the log was told of


class Proxies:
    """An ASGI application that is told the client and the scheme that trusted proxies name.

    Where the site is reached over TLS, a request without it is sent there, or told why not.
    """

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            said = {name: value_of(scope, name) for name in SAID_BY_PROXIES}
            scope = seen_through(scope, *said.values())
            if settings.TLS and scope["type"] == "http" and scope["path"] not in PROBES:
                if why := not_over_tls(scope, said):
                    return await answer(send, 400, why)
                if scope["scheme"] != "https":
                    return await redirect(scope, send)
        await self.app(scope, receive, send)


def seen_through(scope: Scope, forwarded_for: str, proto: str) -> Scope:
    """The scope with the client and scheme that trusted proxies name, and with the real `peer`."""
    host, port = (scope.get("client") or ("", 0))[:2]
    scope = {**scope, "peer": host}
    if is_trusted(host):
        client = client_of(host, forwarded_for)
        scope["client"] = [client, port if client == host else 0]
        secure = proto.rpartition(",")[2].strip().lower() == "https"  # as the nearest proxy says
        if secure:
            scope["scheme"] = "https" if scope["type"] == "http" else "wss"
    elif forwarded_for and settings.ACCOUNTS and host not in _warned:
        _warned[host] = True
        logger.warning(
            "Requests come through %s, which is not among MEMORYWEB_TRUSTED_PROXIES, so whoever"
            " they are from counts as one client.",
            host,
        )
    return scope


def client_of(peer: str, forwarded_for: str) -> str:
    """The address that trusted proxies were asked by: the last of X-Forwarded-For that is none of
    theirs. What stands before it was said by the client, who may say anything.
    """
    client = peer
    for entry in reversed(forwarded_for.split(",")):
        address = parsed(entry)
        if address is None:
            break
        client = str(address)
        if not is_trusted(client):
            break
    return client


def is_trusted(address: str) -> bool:
    """Whether a proxy of the operator's is there."""
    parsed_address = parsed(address)
    return parsed_address is not None and any(
        parsed_address in network for network in settings.TRUSTED_PROXIES
    )


def parsed(text: str) -> Address | None:
    """An address as proxies write it, with or without a port; IPv4 within IPv6 becomes plain."""
    text = text.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def not_over_tls(scope: Scope, said: dict[bytes, str]) -> str:
    """Why a request that may well have come over TLS cannot be taken for one; "" if nothing is
    wrong. A redirect would send it in circles.
    """
    if scope["scheme"] == "https" or not any(said.values()):
        return ""
    if not is_trusted(scope["peer"]):
        return NOT_TRUSTED
    return "" if said[b"x-forwarded-proto"] else NO_SCHEME


async def redirect(scope: Scope, send: Send) -> None:
    """To the same address over TLS, with the same method and body."""
    path = quote(scope["path"] if scope["path"].startswith("/") else "/")
    query = "?" + scope["query_string"].decode("latin-1") if scope.get("query_string") else ""
    location = f"{settings.SITE_URL}{path}{query}".encode("latin-1")
    await answer(send, 308, f"Use {settings.SITE_URL}", [(b"location", location)])


async def answer(
    send: Send, status: int, words: str, more: list[tuple[bytes, bytes]] | None = None
) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
    start = {"type": "http.response.start", "status": status, "headers": headers + (more or [])}
    await send(start)
    await send({"type": "http.response.body", "body": words.encode()})


def value_of(scope: Scope, name: bytes) -> str:
    """A header's value; where it came several times, in order."""
    return ",".join(v.decode("latin-1") for n, v in scope["headers"] if n == name)
