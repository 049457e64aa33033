"""A real proxy before a real server, for tests, on machines that have one."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import free_port
from tests.support.server import ROOT, eventually

NAME = "memory.example.org"  # of the site; `named` has it lead to this machine
CLIENT = "127.0.0.2"  # of a browser; every such address is this machine's, on Linux
# What reaches a server behind these with TLS, from a browser on this machine that itself sent
# X-Forwarded-For: 6.6.6.6 and X-Forwarded-Proto: gopher; tests/slow/test_proxies.py looks.
PASSED_ON = {
    "nginx": {"x-forwarded-for": f"6.6.6.6, {CLIENT}", "x-forwarded-proto": "https"},
    "caddy": {
        "x-forwarded-for": CLIENT,
        "x-forwarded-host": "memory.example.org",
        "x-forwarded-proto": "https",
    },
}
FOLDERS = "client_body proxy fastcgi uwsgi scgi".split()  # noqa: SIM905 # nginx wants them all


def program(name: str) -> str:
    """Where it is; without it the test is skipped."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin")
    if not found:
        pytest.skip(f"There is no {name} here.")
    return found


@contextmanager
def nginx(
    folder: Path, upstream: int, directives: str = "", *, tls: str = "", port: int = 0
) -> Iterator[int]:
    """An nginx that passes on to a port of this machine; the port it listens on."""
    port = port or free_port()
    listen = f"listen 127.0.0.1:{port} {'ssl' if tls else ''}; {tls}"
    location = f"location / {{ proxy_pass http://127.0.0.1:{upstream}; {directives} }}"
    with running_nginx(folder, port, f"server {{ {listen} {location} }}"):
        yield port


@contextmanager
def caddy(folder: Path, upstream: int) -> Iterator[int]:
    """A Caddy with its defaults."""
    port = free_port()
    with running_caddy(
        folder, port, f"http://:{port} {{\nreverse_proxy 127.0.0.1:{upstream}\n}}\n"
    ):
        yield port


@contextmanager
def nginx_with_tls(folder: Path, upstream: int, port: int) -> Iterator[ssl.SSLContext]:
    """An nginx with deploy/nginx.conf, which ends TLS at a port; trust in its certificate.

    Of its two upstreams one is dead.
    """
    key, cert, trusted = certificate(folder)
    with running_nginx(folder, port, nginx_sample(upstream, port, key, cert)):
        yield trusted


@contextmanager
def caddy_with_tls(folder: Path, upstream: int, port: int) -> Iterator[ssl.SSLContext]:
    """A Caddy with deploy/Caddyfile, which ends TLS at a port; trust in its certificate.

    Of its two upstreams one is dead.
    """
    key, cert, trusted = certificate(folder)
    with running_caddy(folder, port, caddy_sample(upstream, port, key, cert)):
        yield trusted


def nginx_sample(upstream: int, port: int, key: Path, cert: Path, other: int = 0) -> str:
    """deploy/nginx.conf, with the places of a test put in; one upstream is dead, or the `other`."""
    return put_in(
        "nginx.conf",
        {
            "127.0.0.1:8283": f"127.0.0.1:{other or free_port()}",
            "127.0.0.1:8284": f"127.0.0.1:{upstream}",
            "listen 80;": f"listen 127.0.0.1:{free_port()};",
            "listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;",
            "/etc/memoryweb/cert.pem": str(cert),
            "/etc/memoryweb/key.pem": str(key),
        },
    )


def caddy_sample(upstream: int, port: int, key: Path, cert: Path) -> str:
    """deploy/Caddyfile, with the places of a test put in, and a certificate of one's own."""
    return put_in(
        "Caddyfile",
        {
            "{$MEMORYWEB_URL:https://memory.example.org}": f"https://{NAME}:{port}",
            "127.0.0.1:8283": f"127.0.0.1:{free_port()}",
            "127.0.0.1:8284": f"127.0.0.1:{upstream}",
            "# tls /etc/memoryweb/cert.pem /etc/memoryweb/key.pem": f"tls {cert} {key}",
        },
    )


def put_in(name: str, places: dict[str, str]) -> str:
    """A file of deploy/ with others in place of these, each of which it has to have."""
    sample = (ROOT / "deploy" / name).read_text()
    for place, other in places.items():
        assert place in sample, f"{name} does not have {place}"
        sample = sample.replace(place, other)
    return sample


@contextmanager
def running_nginx(folder: Path, port: int, sites: str) -> Iterator[None]:
    settings = nginx_settings(folder, port, sites)
    with running([program("nginx"), "-c", str(settings), "-p", str(folder)], port, folder):
        yield


def nginx_settings(folder: Path, port: int, sites: str) -> Path:
    """A file of settings that can be used by anybody, with these servers."""
    temporary = " ".join(f"{name}_temp_path {folder}/{name};" for name in FOLDERS)
    settings = folder / f"nginx-{port}.conf"
    settings.write_text(
        f"daemon off; pid {folder}/pid-{port}; error_log stderr; events {{}}"
        f" http {{ access_log off; {temporary} {sites} }}"
    )
    return settings


@contextmanager
def running_caddy(folder: Path, port: int, sites: str) -> Iterator[None]:
    settings = caddy_settings(folder, port, sites)
    command = [program("caddy"), "run", "--config", str(settings), "--adapter", "caddyfile"]
    with running(command, port, folder):
        yield


def caddy_settings(folder: Path, port: int, sites: str) -> Path:
    """A file of settings that can be used by anybody, with these sites."""
    settings = folder / f"Caddyfile-{port}"
    settings.write_text(f"{{\nadmin off\nauto_https disable_redirects\n}}\n{sites}")
    return settings


@contextmanager
def running(command: list[str], port: int, home: Path) -> Iterator[None]:
    child = subprocess.Popen(
        command,
        env={**os.environ, "HOME": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        eventually(lambda: answers(port))
        yield
    finally:
        child.terminate()
        child.wait(20)


def answers(port: int) -> bool:
    with suppress(OSError), closing(socket.create_connection(("127.0.0.1", port), timeout=2)):
        return True
    return False


@contextmanager
def named() -> Iterator[None]:
    """The name of the site leads to this machine, as far as this process is concerned, which asks
    for it from another address than the proxy has (`CLIENT`)."""
    resolve, connect = socket.getaddrinfo, socket.create_connection

    def resolved(host: Any, *options: Any, **named: Any) -> Any:
        return resolve("127.0.0.1" if host == NAME else host, *options, **named)

    def connected(address: Any, *options: Any, **named: Any) -> socket.socket:
        if address[0] == NAME:
            options, named = options[:1], {**named, "source_address": (CLIENT, 0)}
        return connect(address, *options, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", resolved)
        patch.setattr(socket, "create_connection", connected)
        yield


def certificate(folder: Path) -> tuple[Path, Path, ssl.SSLContext]:
    """The files of a key and of a certificate that it signed itself, and trust in it."""
    key, cert = folder / "key.pem", folder / "cert.pem"
    made = [program("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    made += ["-keyout", str(key), "-out", str(cert), "-subj", f"/CN={NAME}"]
    made += ["-addext", f"subjectAltName=DNS:{NAME}"]
    subprocess.run(made, check=True, capture_output=True)
    return key, cert, ssl.create_default_context(cafile=str(cert))
