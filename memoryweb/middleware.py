"""The door: what every request and every socket has to pass."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

from channels.db import database_sync_to_async
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.request import split_domain_port, validate_host

from agents.accounts import owner

GetResponse = Callable[[HttpRequest], HttpResponse]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'; manifest-src 'self'"
)
API = "/v1/"  # has a door of its own, agents/api/door.py
PROXY_HEADERS = {
    *("x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "forwarded", "x-real-ip"),
    *("via", "cf-connecting-ip", "true-client-ip", "x-client-ip"),
}


class ContentSecurityPolicy:
    """No inline script or style, nothing from elsewhere, on every page."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        response.headers.setdefault("Referrer-Policy", "same-origin")
        return response


class SingleUser:
    """Where no accounts were set up, whoever comes from this machine is the one owner.

    But not what a page from elsewhere asks for in their browser, be it only to look.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if settings.ACCOUNTS or request.path_info.startswith(API):
            return self.get_response(request)
        request.get_host()  # DisallowedHost unless it is a name of this machine
        if not from_this_machine(
            request.META.get("REMOTE_ADDR", ""), set(map(header, request.META))
        ):
            return refusal(
                "memoryweb serves one person on this machine. Set MEMORYWEB_ACCOUNTS=1 to let"
                " others log in."
            )
        origin = request.headers.get("Origin")
        if origin is not None and not same_origin(origin, request.get_host()):
            return refusal("memoryweb answers its own pages only.")
        request.user = owner()
        return self.get_response(request)


def refusal(words: str) -> HttpResponse:
    return HttpResponse(words, status=403, content_type="text/plain")


def header(name: str) -> str:
    """`HTTP_X_REAL_IP` → `x-real-ip`"""
    return name.removeprefix("HTTP_").replace("_", "-").lower()


def from_this_machine(address: str, headers: set[str]) -> bool:
    """Whether a request came over loopback, and not through a proxy that hides where from."""
    try:
        loopback = not address or ip_address(address).is_loopback
    except ValueError:
        loopback = False
    return loopback and not headers & PROXY_HEADERS


class SameOriginSocket:
    """A socket is opened only by a page of this very host (or of a trusted origin)."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> Any:
        headers = {k.decode().lower(): v.decode("latin-1") for k, v in scope["headers"]}
        if same_origin(headers.get("origin", ""), headers.get("host", "")):
            return await self.app(scope, receive, send)
        await receive()
        await send({"type": "websocket.close", "code": 4403})


def same_origin(origin: str, host: str) -> bool:
    """Whether a page at `origin` may open a socket to `host`."""
    name, _ = split_domain_port(host)
    if not name or not validate_host(name, settings.ALLOWED_HOSTS):
        return False
    scheme, _, netloc = origin.lower().partition("://")
    same = scheme in ("http", "https") and netloc == host.lower()
    return same or origin in settings.CSRF_TRUSTED_ORIGINS


class SingleUserSocket:
    """`SingleUser`, for sockets."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> Any:
        if not settings.ACCOUNTS:
            address = (scope.get("client") or [""])[0]
            headers = {k.decode().lower() for k, _ in scope["headers"]}
            if not from_this_machine(address, headers):
                await receive()
                return await send({"type": "websocket.close", "code": 4403})
            scope["user"] = await database_sync_to_async(owner)()
        return await self.app(scope, receive, send)
