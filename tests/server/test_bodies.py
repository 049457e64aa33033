"""What a request may send: refused by its announced length, or on its way, whoever is asking."""

from __future__ import annotations

import asyncio
import http.client
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings as django_settings
from pytest_django import Settings
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport

from memoryweb import bodies, server
from memoryweb.bodies import MEGABYTE, Bounded
from tests.support.server import MemoryWeb

POST = "POST {path} HTTP/1.1\r\nHost: localhost\r\n{length}\r\n\r\n"
ANNOUNCED = "Content-Length: 99999999"
CHUNKED = "Transfer-Encoding: chunked"


class Transport(StringTransport):
    aborted = False

    def abortConnection(self) -> None:
        self.aborted = True


class Line:
    """A connection to the server, without a network, at a time that the test sets."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock = Clock()
        monkeypatch.setattr(server, "reactor", self.clock)
        monkeypatch.setattr(server, "monotonic", self.clock.seconds)
        self.processed: list[Any] = []
        monkeypatch.setattr(
            server.Request, "process", lambda request: self.processed.append(request)
        )
        self.server: Any = SimpleNamespace(taken=0)
        self.server.protocol_connected = self.server.protocol_disconnected = lambda request: None
        self.channel, self.transport = self.connect()

    def connect(self) -> tuple[Any, Transport]:
        factory = server.Factory(self.server)
        factory.reactor = self.clock
        channel, transport = factory.buildProtocol(None), Transport()
        channel.makeConnection(transport)
        return channel, transport

    def begin(self, path: str, length: str) -> None:
        self.send(POST.format(path=path, length=length).encode())

    def send(self, data: bytes) -> None:
        self.channel.dataReceived(data)

    def chunk(self, data: bytes) -> None:
        self.send(b"%x\r\n%b\r\n" % (len(data), data))

    @property
    def answer(self) -> str:
        return str(self.transport.value().decode())


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> Line:
    return Line(monkeypatch)


# -- where Daphne listens --------------------------------------------------------------------------


def test_an_announced_length_is_refused_before_a_byte_of_it_is_sent(line: Line) -> None:
    line.begin("/v1/agents/", f"Expect: 100-continue\r\n{ANNOUNCED}")
    assert line.answer.startswith("HTTP/1.1 413 ")
    assert '{"detail": "The request has 95.4 MB; at most 10 MB are allowed.' in line.answer
    assert "100 Continue" not in line.answer
    line.send(b"x" * MEGABYTE)
    assert line.channel.requests[0].content.getvalue() == b""
    line.clock.advance(server.LINGER + 1)
    assert line.transport.aborted
    assert line.processed == []


def test_a_body_without_a_length_is_refused_when_it_becomes_too_large(line: Line) -> None:
    line.begin("/agents/new/", CHUNKED)
    for _ in range(10):
        line.chunk(b"x" * MEGABYTE)
    assert line.answer == ""
    line.chunk(b"x")
    assert line.answer.startswith("HTTP/1.1 413 ")
    assert line.answer.endswith("10 MB; at most 10 MB are allowed. Send less, or send it in parts.")
    line.chunk(b"x")
    line.send(b"0\r\n\r\n")
    assert (line.answer.count("HTTP/1.1"), line.processed) == (1, [])


@pytest.mark.parametrize("path", ["/v1/agents/import", "/agents/import/", "/v1/agents/import?a=b"])
def test_an_agent_file_may_be_larger_than_other_requests(path: str, line: Line) -> None:
    line.begin(path, CHUNKED)
    for _ in range(51):
        line.chunk(b"x" * MEGABYTE)
    assert line.answer == ""
    line.chunk(b"x")
    assert "The agent file has more than 50 MB; at most 50 MB are allowed." in line.answer


def test_a_form_is_left_to_the_application(line: Line) -> None:
    line.begin("/", "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 3")
    line.send(b"a=b")
    assert [request.args for request in line.processed] == [{}]


def test_a_body_that_fits_reaches_the_application(line: Line) -> None:
    line.begin("/v1/agents/", "Content-Length: 5")
    line.clock.advance(50)
    line.send(b"abcde")
    assert [request.content.read() for request in line.processed] == [b"abcde"]
    line.clock.advance(1000)
    assert not line.transport.aborted


@pytest.mark.parametrize(("pace", "ends_at"), [(0, 60), (8 * 1024, 120), (20 * 1024, None)])
def test_a_body_that_comes_too_slowly_is_refused(
    pace: int, ends_at: int | None, line: Line
) -> None:
    line.begin("/v1/agents/", "Content-Length: 10000000")
    while not line.answer and line.clock.seconds() < 200:
        line.send(b"x" * pace)
        line.clock.advance(1)
    assert ("HTTP/1.1 408 " in line.answer) == (ends_at is not None)
    assert ends_at is None or ends_at <= line.clock.seconds() <= ends_at + 3


def test_headers_have_a_minute_in_all_not_each_of_their_bytes(line: Line) -> None:
    line.send(b"POST / HTTP/1.1\r\nX: ")
    for _ in range(58):
        line.send(b"y")
        line.clock.advance(1)
    assert not line.transport.disconnecting
    line.clock.advance(3)
    assert line.transport.disconnecting


def test_large_bodies_share_the_room_on_the_disk_and_small_ones_pass(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "ROOM", 3 * MEGABYTE)
    line.begin("/v1/agents/", CHUNKED)
    line.chunk(b"x" * 4 * MEGABYTE)
    assert line.answer == ""
    first = line.channel, line.transport
    line.channel, line.transport = line.connect()
    line.begin("/v1/agents/", CHUNKED)
    line.chunk(b"x" * MEGABYTE)
    assert line.answer == ""
    line.chunk(b"x")
    assert line.answer.startswith("HTTP/1.1 503 ")
    assert "Retry-After: 60" in line.answer
    first[0].connectionLost(None)  # the first client goes away
    assert line.server.taken == 0


# -- any ASGI server -------------------------------------------------------------------------------


async def whole(scope: Any, receive: Any, send: Any) -> None:
    """An application that reads the body before it answers, as Django does."""
    while (await receive())["more_body"]:
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"Fine."})


def answered(path: str, pieces: Iterator[bytes], length: int | None = None) -> tuple[int, str]:
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        piece = next(pieces, None)
        if piece == b"":
            await asyncio.Event().wait()  # for ever
        return {"type": "http.request", "body": piece or b"", "more_body": piece is not None}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    headers = [(b"content-length", str(length).encode())] if length is not None else []
    scope = {"type": "http", "path": path, "headers": headers}
    asyncio.run(Bounded(whole)(scope, receive, send))
    return sent[0]["status"], sent[1]["body"].decode()


def megabytes(count: int) -> Iterator[bytes]:
    return (b"x" * MEGABYTE for _ in range(count))


def test_any_server_refuses_by_length_and_on_the_way() -> None:
    status, words = answered("/v1/agents/", iter([]), length=20 * MEGABYTE)
    assert (status, words[:54]) == (413, '{"detail": "The request has 20.0 MB; at most 10 MB are')
    assert answered("/agents/new/", megabytes(11))[0] == 413
    assert answered("/agents/new/", megabytes(10)) == (200, "Fine.")
    assert answered("/agents/import/", megabytes(51)) == (200, "Fine.")
    assert answered("/agents/import/", megabytes(52))[0] == 413


@pytest.mark.parametrize("htmx", [False, True])
def test_who_sent_a_form_gets_a_page_that_leads_on(htmx: bool) -> None:
    asked = {b"accept": b"text/html,*/*"} | ({b"hx-request": b"true"} if htmx else {})
    headers, body = bodies.too_large("/agents/new/", 20 * MEGABYTE).answer("/agents/new/", asked)
    assert headers["Content-Type"].startswith("text/plain" if htmx else "text/html")
    assert "at most 10 MB are allowed" in body.decode()
    assert ('href="/"' in body.decode()) is not htmx
    assert "script-src 'self'" in headers["Content-Security-Policy"]


def test_a_page_is_refused_in_its_language_and_a_script_in_english(settings: Settings) -> None:
    settings.LANGUAGES = [("en", "English"), ("de", "Deutsch")]
    refusal = bodies.too_large("/agents/new/", 20 * MEGABYTE)
    asked = {b"accept-language": b"de"}
    assert "20,0" in refusal.answer("/agents/new/", asked)[1].decode()
    assert "20.0" in refusal.answer("/agents/new/", asked | {b"cookie": chose("en")})[1].decode()
    assert "20.0" in refusal.answer("/v1/agents/", asked)[1].decode()


def chose(language: str) -> bytes:
    """The cookie of somebody who chose a language."""
    return f"{django_settings.LANGUAGE_COOKIE_NAME}={language}".encode()


def test_any_server_refuses_what_comes_too_slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "PATIENCE", 0.0)
    status, words = answered("/v1/agents/", iter([b"x", b""]))
    assert status == 408
    assert "too slowly" in words


# -- the server itself -----------------------------------------------------------------------------


@pytest.mark.slow
def test_the_server_refuses_what_it_will_not_take_without_taking_it(tmp_path: Path) -> None:
    with MemoryWeb(tmp_path, MEMORYWEB_ACCOUNTS="1") as live:
        for path in ("/v1/agents/", "/v1/agents/import", "/agents/import/", "/agents/new/"):
            with closing(socket.create_connection(("127.0.0.1", live.port), timeout=20)) as client:
                client.sendall(POST.format(path=path, length=ANNOUNCED).encode())
                response = http.client.HTTPResponse(client)
                response.begin()
                assert response.status == 413
                assert "MB are allowed" in response.read().decode()
        assert live.get("/static/icon.svg").status == 200
