"""Real proxies before a real server: refused without accounts, trusted with TLS and accounts."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.support.processes import free_port
from tests.support.proxies import (
    NAME,
    PASSED_ON,
    caddy,
    caddy_with_tls,
    named,
    nginx,
    nginx_with_tls,
)
from tests.support.server import ROOT, MemoryWeb
from tests.support.visitor import PASSWORD, Visitor, code_of_the_end, say

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
        with named(), proxy(tmp_path, echo.server_port, port) as trusted:
            lies = {"X-Forwarded-For": "6.6.6.6", "X-Forwarded-Proto": "gopher"}
            request = Request(f"https://{NAME}:{port}/", headers=lies)
            with urlopen(request, context=trusted, timeout=20) as answer:
                reached = json.load(answer)
        echo.shutdown()
    assert reached["host"] == f"{NAME}:{port}"
    known = PASSED_ON[proxy.__name__.partition("_")[0]]
    of_proxies = {n: v for n, v in reached.items() if n == "via" or n.startswith("x-forwarded-")}
    assert {n: v.removesuffix(f":{port}") for n, v in of_proxies.items()} == known


@pytest.fixture(params=[nginx_with_tls, caddy_with_tls], ids=["nginx", "caddy"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Visitor, MemoryWeb]]:
    """Somebody's browser, before a server of which nothing was said but its address and that of its
    proxy."""
    port = free_port()
    url = f"https://{NAME}:{port}"
    # the browser is on this machine as well, and no proxy of the operator's
    server = MemoryWeb(tmp_path / "data", MEMORYWEB_URL=url, MEMORYWEB_TRUSTED_PROXIES="127.0.0.1")
    del server.environment["MEMORYWEB_ACCOUNTS"]
    with named(), server, request.param(tmp_path, server.port, port) as trusted:
        yield Visitor(url, trusted), server


def test_one_variable_is_enough_to_log_in_behind_tls(site: tuple[Visitor, MemoryWeb]) -> None:
    carol, server = site
    (link,) = re.findall(rf"{carol.url}(/\S+)", server.log.read_text())
    page = carol.get(link)
    assert page.headers["Strict-Transport-Security"] == "max-age=31536000"
    assert page.headers["Cache-Control"].endswith("no-store, must-revalidate, private")
    form = {"username": "carol", "email": "", "password1": PASSWORD, "password2": PASSWORD}
    assert "Log out" in carol.post(link, **form).said
    carol.log_out()
    carol.log_in("carol")
    assert {"__Host-memoryweb_session", "__Host-memoryweb_csrf"} <= set(carol.cookies)
    for cookie in carol.jar:
        assert cookie.name.startswith("__Host-")
        assert (cookie.secure, cookie.path, cookie.domain_specified) == (True, "/", False)
    assert "Dashboard · memoryweb" in carol.get("/admin/").said
    api = carol.get("/v1/agents/")
    assert (api.status, api.said) == (200, "[]")
    assert api.headers["Strict-Transport-Security"] == "max-age=31536000"
    with carol.socket() as socket:
        say(socket, command="stop", agent="x")
        assert "There is no such agent" in str(socket.recv(timeout=20))
        carol.log_out()
        assert code_of_the_end(socket) == 4401


def test_behind_a_proxy_everybody_has_their_own_limit_and_files_are_kept_for_good(
    site: tuple[Visitor, MemoryWeb],
) -> None:
    """The limit of log-ins holds for the admin as well, which has no page of its own for them."""
    mallory, server = site
    make = [sys.executable, "manage.py", "create_admin", "alice"]
    subprocess.run(make, cwd=ROOT, env=server.environment, input=PASSWORD, text=True, check=True)
    asked = mallory.get("/admin/login/").url
    assert asked == f"{mallory.url}/accounts/login/?next=%2Fadmin%2Flogin%2F"
    for number in range(11):
        form = {"login": f"person{number}", "password": "wrong"}
        page = mallory.post("/accounts/login/?next=/admin/login/", **form)
    assert "Too many failed login attempts" in page.said
    # nginx adds to what a client says, so that what counts is who really asks
    mallory.headers = {"X-Forwarded-For": "203.0.113.7"}
    again = mallory.post("/accounts/login/", login="alice", password=PASSWORD)
    assert "Too many failed login attempts" in again.said
    files = re.findall(r'(?:href|src)="(/static/[^"]+)"', page.said)
    assert files
    for path in files:
        mallory.headers = {"Accept-Encoding": "gzip"}
        file = mallory.get_bytes(path)
        assert "immutable" in file.headers["Cache-Control"], path
        if not path.endswith(".png"):  # which is compressed already
            assert file.headers["Content-Encoding"] == "gzip", path
