"""Which addresses may be asked: what a URL must look like, and where a name may lead."""

from __future__ import annotations

import asyncio
import re
import socket
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

import httpx2
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

LONGEST_URL = 4_000  # characters
MOST_ADDRESSES = 3  # of one host, to be tried in turn
PORTS = (80, 443, 8000, 8080, 8443)  # of hosts that the operator does not name
DEFAULT_PORTS = {"http": 80, "https": 443}
HOST = re.compile(r"(?=.*[A-Za-z])[\w-]+(\.[\w-]+)*")
# Public by their numbers, but a way to an address inside, or a cloud's own service.
REFUSED = [
    ip_network(each)
    for each in (
        *("64:ff9b::/96", "64:ff9b:1::/48"),  # NAT64
        *("2002::/16", "192.88.99.0/24"),  # 6to4
        *("::ffff:0:0/96", "::/96", "2001::/32"),  # IPv4 within IPv6, Teredo
        "fec0::/10",  # private, as it was once
        "168.63.129.16/32",  # Azure's, for its machines
    )
]


class OutgoingError(Exception):
    """Why there is no answer, in a sentence."""


def check_url(text: str, *, trusted: bool = False) -> httpx2.URL:
    """The address, read; OutgoingError where no request may go there, whatever it resolves to."""
    if len(text) > LONGEST_URL:
        raise OutgoingError(f"The address is longer than {LONGEST_URL:,} characters; shorten it.")
    try:
        url = httpx2.URL(text.strip())
    except (httpx2.InvalidURL, ValueError):
        raise OutgoingError(f"'{text[:200]}' is not an address of a web page.") from None
    if url.scheme not in DEFAULT_PORTS or not url.host:
        raise OutgoingError(
            f"'{text[:200]}' is not an address that can be fetched; it must begin with http:// or"
            " https:// and name a host."
        )
    if url.userinfo:
        raise OutgoingError("The address has a name or password before the host; leave it out.")
    if not trusted and port_of(url) not in PORTS and not _may_use_any_port(host_of(url)):
        allowed = ", ".join(map(str, PORTS))
        raise OutgoingError(
            f"Port {port_of(url)} of {url.host} cannot be used; the ports are {allowed}."
            " The administrator can allow the host in MEMORYWEB_OUTGOING_ALLOW."
        )
    return url


def host_of(url: httpx2.URL) -> str:
    """Its host as name servers know it: in ASCII and small letters."""
    return url.raw_host.decode("ascii").lower()


def port_of(url: httpx2.URL) -> int:
    return url.port or DEFAULT_PORTS[url.scheme]


# -- which addresses -------------------------------------------------------------------------------

Address = IPv4Address | IPv6Address


@cache
def _allowed(entries: tuple[str, ...]) -> tuple[list[Any], set[str]]:
    """The networks and the hosts that the operator allows."""
    networks, hosts = [], set()
    for entry in entries:
        try:
            networks.append(ip_network(entry, strict=False))
        except ValueError:
            if not HOST.fullmatch(entry):
                raise ImproperlyConfigured(
                    f"MEMORYWEB_OUTGOING_ALLOW names '{entry}', which is neither a network, such as"
                    " 10.1.0.0/16, nor a host."
                ) from None
            hosts.add(entry.lower())
    return networks, hosts


def check_settings() -> None:
    """ImproperlyConfigured where what the operator set cannot be read."""
    _allowed(tuple(settings.OUTGOING_ALLOW))
    try:
        if settings.SEARXNG_URL:
            check_url(settings.SEARXNG_URL, trusted=True)
    except OutgoingError as error:
        raise ImproperlyConfigured(f"MEMORYWEB_SEARXNG_URL: {error}") from None


def _may_use_any_port(host: str) -> bool:
    """Whether the operator named the host, or the network of the address that it is."""
    networks, hosts = _allowed(tuple(settings.OUTGOING_ALLOW))
    try:
        return host in hosts or any(ip_address(host) in network for network in networks)
    except ValueError:
        return False


def may_be_asked(address: Address, host: str = "") -> bool:
    """Whether requests may go to an address, under this name."""
    networks, hosts = _allowed(tuple(settings.OUTGOING_ALLOW))
    if host in hosts or any(address in network for network in networks):
        return True
    if any(address in network for network in REFUSED):
        return False
    return address.is_global and not (
        address.is_multicast or address.is_reserved or address.is_unspecified
    )


async def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise OutgoingError(f"The host {host} does not exist, or cannot be found now.") from None
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


async def checked_addresses(host: str, port: int) -> list[str]:
    """The addresses of a host; OutgoingError where one of them may not be asked."""
    addresses = await resolve(host, port)
    if any(not may_be_asked(ip_address(each), host) for each in addresses):
        raise OutgoingError(
            f"{host} is an address of this machine or of a network that is not public, so it is"
            " not asked. The administrator can allow it in MEMORYWEB_OUTGOING_ALLOW."
        )
    return addresses[:MOST_ADDRESSES]
