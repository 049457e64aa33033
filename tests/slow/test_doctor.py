"""The doctor, probes and metrics of a real site: behind an nginx that is right, or is not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.fake_openai import FakeOpenAI
from tests.support.processes import free_port
from tests.support.proxies import nginx
from tests.support.server import MemoryWeb, eventually
from tests.support.site import Site, own_site
from tests.support.visitor import Visitor
from tests.support.web_servers import certificate_for

pytestmark = pytest.mark.slow
HEADERS = (
    "proxy_http_version 1.1; proxy_set_header Host $http_host;"
    " proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;"
)
SCHEME = " proxy_set_header X-Forwarded-Proto $scheme;"
SOCKETS = ' proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade";'
KEY = "a key of more than forty characters, which all share"


def found(server: MemoryWeb, **environment: str) -> tuple[int, dict[str, dict[str, str]]]:
    """The doctor's exit status, and what it found by name."""
    server.environment.update(environment)
    ended = server.command("doctor", "--json")
    assert ended.stdout, ended.stderr
    return ended.returncode, {each["name"]: each for each in json.loads(ended.stdout)}


@pytest.fixture
def site(tmp_path: Path, model: FakeOpenAI) -> Iterator[Site]:
    with own_site(tmp_path, model, MEMORYWEB_SECRET_KEY=KEY) as started:
        yield started


@pytest.mark.hosted_only
def test_a_whole_site_is_well_and_without_a_worker_it_is_not(site: Site) -> None:
    status, told = found(site.web[0])
    assert status == 1
    assert told["workers"]["state"] == "failed"
    site.worker()

    def well() -> bool:
        status, told = found(site.web[0])
        assert status == 0, told
        assert {each["state"] for each in told.values()} == {"ok"}
        assert "2 web processes and 1 workers may take 59 of 197" in told["connections"]["words"]
        return True

    eventually(well)
    body = Visitor(site.web[1].url).get("/readyz").said
    assert {each["state"] for each in json.loads(body)["checks"]} == {"ok"}
    assert "memoryweb_workers 1.0" in Visitor(site.web[1].url).get("/metrics").said


@pytest.mark.sqlite_only
@pytest.mark.parametrize(
    ("directives", "state", "words"),
    [
        (HEADERS + SCHEME + SOCKETS, "ok", "lets sockets through"),
        (HEADERS + SCHEME, "failed", "sockets are not let through"),
        (HEADERS + SOCKETS, "failed", "answers 400"),
    ],
)
def test_a_proxy_is_asked_through(directives: str, state: str, words: str, tmp_path: Path) -> None:
    certificate_for("localhost", tmp_path)
    pem = tmp_path / "localhost.pem"
    tls = f"ssl_certificate {pem}; ssl_certificate_key {pem};"
    port = free_port()
    url = f"https://localhost:{port}"
    server = MemoryWeb(tmp_path / "data", MEMORYWEB_URL=url, MEMORYWEB_ACCOUNTS="1")
    with server, nginx(tmp_path, server.port, directives, tls=tls, port=port):
        _, told = found(server, SSL_CERT_FILE=str(pem))
        assert (told["proxy"]["state"], words in told["proxy"]["words"]) == (state, True), told
        assert found(server, SSL_CERT_FILE="/dev/null")[1]["proxy"]["state"] == "failed"
