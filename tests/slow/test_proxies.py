"""Real proxies before a real server: refused without accounts, trusted with TLS and accounts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.support.processes import free_port
from tests.support.proxies import PASSED_ON, caddy, caddy_with_tls, nginx, nginx_with_tls
from tests.support.server import MemoryWeb
from tests.support.visitor import Visitor, code_of_the_end, say

pytestmark = [pytest.mark.slow, pytest.mark.sqlite_only]
WITH_TLS = pytest.mark.parametrize("proxy", [nginx_with_tls, caddy_with_tls])


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryWeb]:
    """A server without accounts."""
    with MemoryWeb(tmp_path_factory.mktemp("alone")) as server:
        yield server


@pytest.mark.parametrize("proxy", [nginx, caddy])
def test_without_accounts_what_a_proxy_with_its_defaults_passes_on_is_refused(
    proxy: Any, alone: MemoryWeb, tmp_path: Path
) -> None:
    with proxy(tmp_path, alone.port) as port:
        for path in ("/agents/new/", "/v1/agents/"):
            assert alone.get(path).status == 200
            page = Visitor(f"http://localhost:{port}").get(path)
            assert page.status == 403
            assert "came through a proxy" in page.said
            assert "MEMORYWEB_ACCOUNTS=1" in page.said


class Echo(BaseHTTPRequestHandler):
    """Answers with the headers that reached it."""

    def do_GET(self) -> None:
        said = json.dumps({name.lower(): value for name, value in self.headers.items()}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


@WITH_TLS
def test_the_headers_of_real_proxies_are_those_that_other_tests_send(
    proxy: Any, tmp_path: Path
) -> None:
    port = free_port()
    with HTTPServer(("127.0.0.1", 0), Echo) as echo:
        Thread(target=echo.serve_forever, daemon=True).start()
        with proxy(tmp_path, echo.server_port, port) as trusted:
            lies = {"X-Forwarded-For": "6.6.6.6", "X-Forwarded-Proto": "gopher"}
            request = Request(f"https://localhost:{port}/", headers=lies)
            with urlopen(request, context=trusted, timeout=20) as answer:
                reached = json.load(answer)
        echo.shutdown()
    assert reached["host"] == f"localhost:{port}"
    known = PASSED_ON[proxy.__name__.partition("_")[0]]
    of_proxies = {n: v for n, v in reached.items() if n == "via" or n.startswith("x-forwarded-")}
    assert {n: v.removesuffix(f":{port}") for n, v in of_proxies.items()} == known


@pytest.fixture(params=[nginx_with_tls, caddy_with_tls], ids=["nginx", "caddy"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Visitor]:
    """Somebody's browser, before a server of which nothing was said but its URL."""
    port = free_port()
    url = f"https://localhost:{port}"
    server = MemoryWeb(tmp_path / "data", MEMORYWEB_URL=url, MEMORYWEB_ACCOUNTS="1")
    with server, request.param(tmp_path, server.port, port) as trusted:
        yield Visitor(url, trusted)


def test_behind_tls_cookies_are_this_hosts_alone_and_browsers_keep_to_tls(site: Visitor) -> None:
    page = site.get("/accounts/signup/")
    assert page.headers["Strict-Transport-Security"] == "max-age=31536000"
    assert (
        page.headers["Cache-Control"] == "max-age=0, no-cache, no-store, must-revalidate, private"
    )
    site.sign_up("alice")
    assert {"__Host-memoryweb_session", "__Host-memoryweb_csrf"} <= set(site.cookies)
    assert all(name.startswith("__Host-") for name in site.cookies)
    for cookie in site.jar:
        assert (cookie.secure, cookie.path, cookie.domain_specified) == (True, "/", False)
    api = site.get("/v1/agents/")
    assert (api.status, api.said) == (200, "[]")
    assert api.headers["Strict-Transport-Security"] == "max-age=31536000"
    with site.socket() as socket:
        say(socket, command="stop", agent="x")
        assert "There is no such agent" in str(socket.recv(timeout=20))
        site.log_out()
        assert code_of_the_end(socket) == 4401
    assert all(name.startswith("__Host-") for name in site.cookies)
