"""Real proxies before a real server: refused without accounts, trusted with TLS and accounts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import free_port
from tests.support.proxies import caddy, certificate, nginx
from tests.support.server import MemoryWeb
from tests.support.visitor import Visitor, code_of_the_end, say

pytestmark = [pytest.mark.slow, pytest.mark.sqlite_only]
PASSED_ON = (
    "proxy_http_version 1.1; proxy_set_header Host $http_host;"
    " proxy_set_header X-Forwarded-Proto $scheme;"
    " proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;"
    ' proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade";'
)


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


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Visitor]:
    """Somebody's browser, before a server with accounts behind an nginx that ends TLS."""
    tls, trusted = certificate(tmp_path)
    port = free_port()
    url = f"https://localhost:{port}"
    server = MemoryWeb(tmp_path / "data", MEMORYWEB_ACCOUNTS="1", MEMORYWEB_TRUSTED_ORIGINS=url)
    with server, nginx(tmp_path, server.port, PASSED_ON, tls=tls, port=port):
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
