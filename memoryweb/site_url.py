"""MEMORYWEB_URL: the one address at which people reach the site."""

from __future__ import annotations

import re
from typing import NamedTuple, Self
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

DEFAULT_PORTS = {"http": 80, "https": 443}
NAME = re.compile(r"[a-z0-9]([a-z0-9_.-]*[a-z0-9])?")
ADDRESS = re.compile(r"\[[0-9a-f:.]+\]")


class SiteUrl(NamedTuple):
    """Scheme, host as in the header Host, without the port, and origin; all "" if none is set."""

    scheme: str
    host: str
    origin: str

    @classmethod
    def parse(cls, value: str) -> Self:
        """ImproperlyConfigured, in words, for what is no address of a site."""
        value = value.strip()
        if not value:
            return cls("", "", "")
        url = urlsplit(value)
        if url.scheme not in DEFAULT_PORTS:
            raise wrong(value, "it has to begin with https:// (or http://)")
        try:
            port = url.port
        except ValueError:
            raise wrong(value, "its port is no number up to 65535") from None
        if "@" in url.netloc:
            raise wrong(value, "it may name nobody before the host")
        if url.path not in ("", "/") or url.query or url.fragment:
            rest = value.partition(url.netloc)[2]
            raise wrong(value, f"memoryweb has a host of its own: leave out '{rest}'")
        host = host_of(url.netloc)
        if not (NAME.fullmatch(host) or ADDRESS.fullmatch(host)):
            raise wrong(value, "it names no host")
        shown = "" if port in (None, DEFAULT_PORTS[url.scheme]) else f":{port}"
        return cls(url.scheme, host, f"{url.scheme}://{host}{shown}")


def host_of(netloc: str) -> str:
    """The host as browsers send it; "" where it cannot be one."""
    host = re.sub(r":\d*$", "", netloc).lower()
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        return ""


def wrong(value: str, why: str) -> ImproperlyConfigured:
    return ImproperlyConfigured(
        f"MEMORYWEB_URL is {value!r}, and {why}. Write it as a browser shows the address of the"
        " site, such as https://memory.example.org."
    )
