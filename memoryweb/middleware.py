"""The door: what every request and every socket has to pass."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

from channels.db import database_sync_to_async
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.request import split_domain_port, validate_host
from django.middleware.locale import LocaleMiddleware
from django.shortcuts import render
from django.utils import translation
from django.utils.translation import gettext

from agents.accounts import owner
from agents.models.audit import asked_by
from agents.models.limits import LimitReached, check_requests
from agents.pages.turns import turn_of

GetResponse = Callable[[HttpRequest], HttpResponse]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'; manifest-src 'self'"
)
PERMISSIONS = "microphone=(self), camera=(), geolocation=()"  # messages can be dictated
API = "/v1/"  # has a door of its own, agents/api/auth.py
PROXY_HEADERS = {
    *("forwarded", "via", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "true-client-ip"),
    *("cf-connecting-ip", "fastly-client-ip", "fly-client-ip", "cdn-loop", "x-proxyuser-ip"),
    *("x-original-host", "x-original-url", "x-envoy-external-address", "x-amzn-trace-id"),
}


class PageHeaders:
    """What every page says: no inline script or style, nothing from elsewhere, and none is kept, as
    it is for one person's eyes. Static files do not come this far."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", policy_of(request))
        response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        response.headers.setdefault("Referrer-Policy", "same-origin")
        response.headers.setdefault("Cache-Control", "no-store")
        return response


class Languages(LocaleMiddleware):
    """A page speaks the language that was chosen or that the browser asks for; the API, which
    programs read, always the usual one."""

    def process_request(self, request: HttpRequest) -> None:
        if request.path_info.startswith(API):
            translation.activate(settings.LANGUAGE_CODE)
            request.LANGUAGE_CODE = settings.LANGUAGE_CODE
        else:
            super().process_request(request)


def policy_of(request: HttpRequest) -> str:
    """What a page may load, and where its forms may lead: elsewhere only to log in there."""
    match = request.resolver_match
    if match and "allauth.socialaccount" in match._func_path:
        origins = " ".join(settings.LOGIN_ORIGINS)
        return POLICY.replace("form-action 'self'", f"form-action 'self' {origins}")
    return POLICY


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
        if words := refusal_reason(*connection_of(request)):
            return refusal(words)
        origin = request.headers.get("Origin")
        if origin is not None and not same_origin(origin, request.get_host()):
            return refusal(gettext("memoryweb accepts requests from its own pages only."))
        request.user = owner()
        return self.get_response(request)


class Audited:
    """What a request does is done by whoever sends it, as far as the audit is concerned."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with asked_by(request):
            return self.get_response(request)


class Turns:
    """How many pages of one person are drawn at once: more wait for their turn, and where too many
    wait, or one too long, it is a 429. Each takes a thread, and on Postgres a connection."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not settings.ACCOUNTS or not request.user.pk:
            return self.get_response(request)
        try:
            with turn_of(request.user.pk):
                return self.get_response(request)
        except LimitReached as limit:
            return limited(request, limit)


class Limits:
    """How much one person may ask for: each POST counts, and a limit that is reached is a 429."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if settings.ACCOUNTS and request.method == "POST" and request.user.pk:
            try:
                check_requests(request.user.pk)
            except LimitReached as limit:
                return limited(request, limit)
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        return limited(request, error) if isinstance(error, LimitReached) else None


def limited(request: HttpRequest, limit: LimitReached) -> HttpResponse:
    """429: the sentence, in the page or as one, and when to try again."""
    template = "agents/_refusal.html" if "HX-Request" in request.headers else "429.html"
    response = render(request, template, {"error": str(limit)}, status=429)
    response.headers["Retry-After"] = str(limit.seconds)
    return response


def refusal(words: str) -> HttpResponse:
    return HttpResponse(words, status=403, content_type="text/plain")


def connection_of(request: HttpRequest) -> tuple[str, set[str], str]:
    """Which address connected here, with which headers, in which version of HTTP.

    Not the client that a proxy names, which is in REMOTE_ADDR (`proxies.py`).
    """
    headers = {name.lower() for name in request.headers}
    scope: dict[str, Any] = getattr(request, "scope", {})
    peer = scope.get("peer", request.META.get("REMOTE_ADDR", ""))
    return peer, headers, scope.get("http_version", "1.1")


def refusal_reason(address: str, headers: set[str], http_version: str) -> str:
    """Why a request cannot be the one owner's on this machine, in words; "" if it can.

    One that a proxy passes on comes over loopback as well, whoever sent it. A proxy names itself,
    or speaks HTTP/1.0 (as nginx does if it is told nothing), which no browser and no SDK does.
    """
    if not is_loopback(address):
        return gettext(
            "memoryweb serves one person on this machine. Set MEMORYWEB_ACCOUNTS=1, so that people"
            " log in."
        )
    passed_on = sorted(h for h in headers if h in PROXY_HEADERS or h.startswith("x-forwarded-"))
    if http_version == "1.0":
        passed_on.append("HTTP/1.0")
    if not passed_on:
        return ""
    words = gettext(
        "This request came through a proxy (%(headers)s), so anybody may have sent it, and"
        " memoryweb serves one person on this machine. Set MEMORYWEB_ACCOUNTS=1, so that people"
        " log in."
    )
    return words % {"headers": ", ".join(passed_on)}


def is_loopback(address: str) -> bool:
    try:
        return not address or ip_address(address).is_loopback
    except ValueError:
        return False


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
            address = scope.get("peer", (scope.get("client") or [""])[0])
            headers = {k.decode().lower() for k, _ in scope["headers"]}
            if refusal_reason(address, headers, scope.get("http_version", "1.1")):
                await receive()
                return await send({"type": "websocket.close", "code": 4403})
            scope["user"] = await database_sync_to_async(owner)()
        return await self.app(scope, receive, send)
