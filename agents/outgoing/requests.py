"""Requests that are sent: pinned to a checked address, within limits of size and time."""

from __future__ import annotations

import asyncio
import json
import ssl
import zlib
from collections.abc import Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import httpx2

from agents import asyncio_bridge

from .addresses import OutgoingError, check_url, checked_addresses, host_of, port_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

T = TypeVar("T")

SECONDS = 15.0  # from resolving the name to the last byte
LARGEST_ANSWER = 5_000_000  # bytes, uncompressed
LARGEST_PAYLOAD = 10_000_000  # bytes
MOST_REDIRECTS = 5
REDIRECTS = (301, 302, 303, 307, 308)
AGENT = "Mozilla/5.0 (compatible; memoryweb)"


@dataclass(frozen=True)
class Reply:
    """What a server answered: `url` is the one after redirects."""

    url: str
    status: int
    content_type: str
    body: bytes

    @property
    def text(self) -> str:
        """The body as text, in the character set that was named, else UTF-8."""
        _, _, name = self.content_type.partition("charset=")
        try:
            return self.body.decode(name.split(";")[0].strip("\"' ") or "utf-8", "replace")
        except LookupError:
            return self.body.decode("utf-8", "replace")


def fetch(
    url: str, *, accept: str = "*/*", trusted: bool = False, most: int | None = None
) -> Reply:
    """GET an address, following redirects within its host. OutgoingError where that fails, or the
    answer has more than `most` bytes (5 MB).

    `trusted`: the operator set it, so it may be anywhere.
    """
    return _wait(_fetch(url, accept, trusted, most or LARGEST_ANSWER), url)


def post_json(url: str, payload: Any, headers: dict[str, str] | None = None) -> int:
    """POST a value as JSON; the status of the answer, whose body is not read.

    OutgoingError where that fails, or the server redirects.
    """
    return _wait(_post(url, payload, headers or {}), url)


@cache
def certificates() -> ssl.SSLContext:
    """Read once: it takes a tenth of a second."""
    return ssl.create_default_context()


class Pinned(httpx2.AsyncHTTPTransport):
    """Connects to a checked address; TLS and the Host header keep the name."""

    def __init__(self, *, trusted: bool) -> None:
        limits = httpx2.Limits(max_connections=1, max_keepalive_connections=0)
        super().__init__(verify=certificates(), trust_env=False, limits=limits)
        self.trusted = trusted

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if self.trusted:
            return await super().handle_async_request(request)
        url, host = request.url, host_of(request.url)
        failed: Exception = httpx2.ConnectError("It has no address.")
        for address in await checked_addresses(host, port_of(url)):
            request.url = url.copy_with(host=address)
            request.extensions = {**request.extensions, "sni_hostname": host}
            try:
                return await super().handle_async_request(request)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                failed = error
        raise failed


# -- asked -----------------------------------------------------------------------------------------


def _wait(asked: Coroutine[Any, Any, T], url: str) -> T:
    """Run it on the background loop, with all errors as sentences."""

    async def in_time() -> T:
        async with asyncio.timeout(SECONDS):
            return await asked

    host = url.split("://")[-1].split("/")[0][:200]
    try:
        return asyncio.run_coroutine_threadsafe(in_time(), asyncio_bridge.loop()).result()
    except TimeoutError:
        raise OutgoingError(f"{host} did not answer within {SECONDS:g} seconds.") from None
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        reason = str(error) or type(error).__name__
        raise OutgoingError(f"{host} cannot be read: {reason}.") from error


@asynccontextmanager
async def _asking(
    method: str, url: httpx2.URL, headers: dict[str, str], content: bytes | None, trusted: bool
) -> AsyncIterator[httpx2.Response]:
    client = httpx2.AsyncClient(
        transport=Pinned(trusted=trusted),
        timeout=SECONDS,
        trust_env=False,
        headers={"User-Agent": AGENT, "Accept-Encoding": "gzip", **headers},
    )
    async with client, client.stream(method, url, content=content) as response:
        yield response


async def _fetch(text: str, accept: str, trusted: bool, most: int) -> Reply:
    url = check_url(text, trusted=trusted)
    for _ in range(MOST_REDIRECTS + 1):
        async with _asking("GET", url, {"Accept": accept}, None, trusted) as response:
            target = response.headers.get("location", "")
            if response.status_code not in REDIRECTS or not target:
                content_type = response.headers.get("content-type", "").lower()
                body = await _body(response, most)
                return Reply(str(url), response.status_code, content_type, body)
        url = _followed(url, target, trusted)
    raise OutgoingError(f"{url.host} redirects more than {MOST_REDIRECTS} times.")


def _followed(url: httpx2.URL, target: str, trusted: bool) -> httpx2.URL:
    """Where a redirect leads; OutgoingError where that is another host, or less protected."""
    there = check_url(str(url.join(target)), trusted=trusted)
    here = (url.scheme, host_of(url), port_of(url))
    upgraded = ("https", here[1], 443) if (here[0], here[2]) == ("http", 80) else here
    if (there.scheme, host_of(there), port_of(there)) in (here, upgraded):
        return there
    raise OutgoingError(f"{url} redirects to {there}, which is elsewhere; use that address.")


async def _post(text: str, payload: Any, headers: dict[str, str]) -> int:
    url = check_url(text)
    content = json.dumps(payload, ensure_ascii=False).encode()
    if (size := len(content)) > LARGEST_PAYLOAD:
        raise OutgoingError(f"{size:,} bytes cannot be sent; at most {LARGEST_PAYLOAD:,} can.")
    sent = {"Content-Type": "application/json", **headers}
    async with _asking("POST", url, sent, content, False) as response:
        if response.status_code in REDIRECTS:
            raise OutgoingError(f"{url.host} redirects, which is not followed for a POST.")
        return response.status_code


async def _body(response: httpx2.Response, most: int) -> bytes:
    """The body, uncompressed piece by piece, so that a small one cannot become a large one."""
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip"):
        raise OutgoingError(f"The answer is compressed as '{encoding[:50]}', not as gzip.")
    unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS) if "gzip" in encoding else None
    body = bytearray()
    async for piece in response.aiter_raw():
        room = most - len(body)
        try:
            body += unpacker.decompress(piece, room + 1) if unpacker else piece
        except zlib.error:
            raise OutgoingError("The answer says that it is gzip, but it is not.") from None
        if len(body) > most:
            raise OutgoingError(f"The answer has more than {most:,} bytes.")
    return bytes(body)
