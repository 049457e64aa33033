"""Limits of requests to other servers: time, size, compression; and callbacks."""

from __future__ import annotations

import gzip
import threading
from http.server import BaseHTTPRequestHandler

import pytest
from pytest_django import Settings

from agents.outgoing import OutgoingError, check_url, fetch, post_json, requests
from tests.support.web_servers import redirecting, says, web_server


@pytest.mark.parametrize("part", ["nothing", "headers", "body"])
def test_a_server_that_is_silent_is_left_after_a_while(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "SECONDS", 0.3)
    ended = threading.Event()

    def drip(request: BaseHTTPRequestHandler) -> None:
        start = {
            "nothing": b"",
            "headers": b"HTTP/1.1 200 OK\r\nX-A: ",
            "body": b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab",
        }
        request.wfile.write(start[part])
        while part != "nothing" and not ended.wait(0.02):  # slowly, and for ever
            request.wfile.write(b"a" if part == "headers" else b"")
        ended.wait(20)

    try:
        with (
            web_server(drip) as server,
            pytest.raises(OutgoingError, match=r"did not answer within 0\.3 seconds"),
        ):
            fetch(server.url())
    finally:
        ended.set()


def test_an_answer_without_an_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "LARGEST_ANSWER", 100_000)
    sent = []

    def endless(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        while True:  # until the other side has gone
            request.wfile.write(b"x" * 10_000)
            sent.append(10_000)

    with (
        web_server(endless) as server,
        pytest.raises(OutgoingError, match="more than 100,000 bytes"),
    ):
        fetch(server.url())

    assert sum(sent) < 50_000_000


def test_a_small_answer_that_uncompresses_to_a_large_one_is_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bomb = gzip.compress(b"0" * 50_000_000)
    monkeypatch.setattr(requests, "LARGEST_ANSWER", 1_000_000)
    with (
        web_server(says(bomb, Content_Encoding="gzip")) as server,
        pytest.raises(OutgoingError, match="more than 1,000,000 bytes"),
    ):
        fetch(server.url())


def test_a_compressed_answer_is_read() -> None:
    packed = gzip.compress("Grüße".encode("latin-1"))
    page = says(packed, "text/plain; charset=ISO-8859-1", Content_Encoding="gzip")
    with web_server(page) as server:
        assert fetch(server.url()).text == "Grüße"


@pytest.mark.parametrize("encoding", ["br", "gzip, gzip", "gzip"])
def test_a_compression_that_cannot_be_read_is_said(encoding: str) -> None:
    with (
        web_server(says(b"plain", Content_Encoding=encoding)) as server,
        pytest.raises(OutgoingError, match="gzip"),
    ):
        fetch(server.url())


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("file:///etc/passwd", "must begin with http"),
        ("ftp://example.org/", "must begin with http"),
        ("example.org", "must begin with http"),
        ("http://", "must begin with http"),
        ("http://[::1", "is not an address"),
        ("https://me:secret@example.org/", "leave it out"),
        ("http://example.org:22/", "Port 22 of example.org cannot be used"),
        ("http://example.org:6379/", "Port 6379"),
        (f"https://example.org/{'a' * 4000}", "longer than 4,000 characters"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_words(url: str, sentence: str) -> None:
    with pytest.raises(OutgoingError, match=sentence):
        check_url(url)


def test_a_host_that_cannot_be_reached_is_named() -> None:
    with web_server(says("")) as server:
        pass

    with pytest.raises(OutgoingError, match=f"127.0.0.1:{server.port} cannot be read"):
        fetch(server.url())


# -- callbacks -------------------------------------------------------------------------------------


def test_a_callback_carries_json_and_says_what_was_answered() -> None:
    with web_server(says("", status=202)) as server:
        assert post_json(server.url("/hook"), {"Grüße": 1}, {"X-Key": "k"}) == 202

    [(method, path, headers, body)] = server.asked
    assert (method, path) == ("POST", "/hook")
    assert (headers["content-type"], headers["x-key"]) == ("application/json", "k")
    assert body.decode() == '{"Grüße": 1}'


def test_a_callback_is_not_redirected() -> None:
    with (
        web_server(redirecting("/there", 307)) as server,
        pytest.raises(OutgoingError, match="not followed for a POST"),
    ):
        post_json(server.url(), {})

    assert len(server.asked) == 1


def test_a_callback_goes_to_nothing_private(settings: Settings) -> None:
    settings.OUTGOING_ALLOW = []
    with pytest.raises(OutgoingError, match="not public"):
        post_json("http://169.254.169.254/latest/", {})


def test_what_the_operator_set_may_be_anywhere(settings: Settings) -> None:
    settings.OUTGOING_ALLOW = []
    with web_server(says("found")) as server:
        assert fetch(server.url(), trusted=True).text == "found"
