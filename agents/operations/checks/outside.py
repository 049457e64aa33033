"""What is outside: the proxy in front, Redis, mail, the models' endpoints."""

from __future__ import annotations

import ssl
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import get_connection

from agents.llm.available import named_endpoints
from agents.llm.clients import list_models
from agents.llm.endpoints import ModelError
from agents.models import ModelEndpoint
from agents.models.model_endpoint import names_taken

from .check import Found, failed, ok, warning

SECONDS = 5.0
SET_PROXY = "docs/hosting.md has what nginx and Caddy need."
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "bWVtb3J5d2ViIGRvY3Rvcg==",
}
PASSED_UP = (101, 403)  # what the socket's own handler answers; 404 comes from the pages


def proxy() -> Found:
    """Whether the site answers at its address, through whatever stands in front."""
    url = settings.SITE_URL
    if not url:
        words = "MEMORYWEB_URL is unset: this server is reached without one"
        return ok("proxy", words)
    try:
        page, socket = ask(url, "/accounts/login/"), ask(url, "/ws/", Origin=url, **UPGRADE)
    except ssl.SSLError as error:
        return failed("proxy", f"{url}: TLS fails ({error})", "Is the certificate right?")
    except (OSError, HTTPException) as error:
        words = f"{url} does not answer ({error})"
        return failed("proxy", words, "Is the proxy running, and the name pointing to it?")
    if problem := problem_of(page, url):
        return failed("proxy", f"{url}/accounts/login/ {problem}", SET_PROXY)
    if socket.status not in PASSED_UP:
        words = f"{url}/ws/ answers {socket.status}: sockets are not let through"
        return failed("proxy", words, f"Pass on Upgrade and Connection, over HTTP/1.1. {SET_PROXY}")
    return ok("proxy", f"{url} answers, over {urlsplit(url).scheme}, and lets sockets through")


def problem_of(page: HTTPResponse, url: str) -> str:
    """What is wrong with the page to log in, as it came through the proxy; "" if nothing is."""
    to = page.getheader("Location") or ""
    if page.status in (301, 302, 307, 308) and to.startswith(url + "/accounts/login"):
        return "leads to itself: the proxy does not pass on X-Forwarded-Proto"
    if page.status == 400:
        return "answers 400: the proxy does not pass on Host, or is not a trusted one"
    if page.status >= 400:
        return f"answers {page.status}"
    if settings.TLS and not page.getheader("Strict-Transport-Security"):
        return "came without HSTS: the proxy does not pass on X-Forwarded-Proto"
    return ""


def ask(url: str, path: str, **headers: str) -> HTTPResponse:
    """GET a page; redirects are not followed."""
    address = urlsplit(url)
    kind = HTTPSConnection if address.scheme == "https" else HTTPConnection
    connection = kind(address.hostname or "", address.port, timeout=SECONDS)
    try:
        connection.request("GET", path, headers=headers)
        return connection.getresponse()
    finally:
        connection.close()


def redis() -> Found:
    """Whether live updates reach all processes."""
    if not settings.REDIS_URL:
        if not settings.HOSTED:
            return ok("redis", "not needed by a single process")
        words = "REDIS_URL is unset: pages update only every 15 s, and each process counts alone"
        return warning("redis", words, "Set REDIS_URL.")
    # redis is installed where it is used
    from redis import Redis, RedisError  # noqa: PLC0415

    client = Redis.from_url(
        settings.REDIS_URL, socket_timeout=SECONDS, socket_connect_timeout=SECONDS
    )
    try:
        version = client.info("server")["redis_version"]
        return ok("redis", f"Redis {version}")
    except RedisError as error:
        return failed("redis", f"does not answer ({error})", "Is REDIS_URL right, and it running?")
    finally:
        client.close()


def mail() -> Found:
    """Whether mail can be handed over."""
    if not settings.MAIL:
        words = "not sent: EMAIL_URL is unset"
        if not settings.ACCOUNTS:
            return ok("mail", words)
        return warning("mail", words, "Set it, so that a forgotten password can be reset.")
    if not settings.EMAIL_BACKEND.endswith(".smtp.EmailBackend"):
        return ok("mail", f"handed to {settings.EMAIL_BACKEND}")
    server = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"
    connection = get_connection(timeout=SECONDS)
    try:
        connection.open()
    except OSError as error:  # smtplib's errors are
        return failed("mail", f"{server} does not take it ({error})", "Is EMAIL_URL right?")
    finally:
        connection.close()
    return ok("mail", f"{server} answers")


def models() -> Found:
    """Whether the models' endpoints list their models with the keys that they have."""
    told, broken = [], False
    for name, endpoint in named_endpoints().items():
        if endpoint.is_demo:
            told.append("the built-in demo answers, no endpoint is set")
            continue
        if endpoint.takes_only_own_keys and endpoint.problem:
            told.append(f"{name}: not asked, as it takes only people's own keys")
            continue
        try:
            count = len(list_models(endpoint, SECONDS))
            told.append(f"{name}: GET {endpoint}/models lists {count}")
        except ModelError as error:
            broken = True
            told.append(f"{name}: GET {endpoint}/models failed ({error})")
    words = "; ".join(told)
    if broken:
        advice = "Are address and key right (OPENAI_BASE_URL, …, or Model endpoints in the admin)?"
        return failed("models", words, advice)
    hidden = ModelEndpoint.objects.filter(name__in=names_taken()).values_list("name", flat=True)
    if hidden:
        words = f"{words}; also defined in the admin, which does not count: {', '.join(hidden)}"
        return warning("models", words, "Rename it there, or in MEMORYWEB_ENDPOINTS.")
    return ok("models", words)
