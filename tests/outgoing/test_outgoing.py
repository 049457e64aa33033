"""Requests to addresses that people and models name: nobody reaches what is not public."""

from __future__ import annotations

import gzip
import threading
from http.server import BaseHTTPRequestHandler
from ipaddress import ip_address
from pathlib import Path

import pytest
from pytest_django import Settings

from agents import outgoing
from agents.outgoing import OutgoingError, check_url, fetch, may_be_asked, post_json
from tests.support.web_servers import certificate_for, says, web_server


@pytest.fixture(autouse=True)
def this_machine_is_allowed(settings: Settings) -> None:
    settings.OUTGOING_ALLOW = ["127.0.0.0/8"]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[list[str]]]:
    """What the name server says of each host, each time it is asked: the last answer stays."""
    answers: dict[str, list[list[str]]] = {}

    async def resolve(host: str, port: int) -> list[str]:
        left = answers.get(host) or [[host]]
        return left.pop(0) if len(left) > 1 else left[0]

    monkeypatch.setattr(outgoing, "resolve", resolve)
    return answers


PRIVATE = [
    *("127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1"),
    *("169.254.169.254", "100.64.0.1", "100.100.100.200", "192.0.0.1", "198.18.0.1"),
    *("224.0.0.1", "239.1.1.1", "224.0.1.1", "240.0.0.1", "255.255.255.255", "168.63.129.16"),
    *("::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1"),
    *("::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::808:808"),
    *("64:ff9b:1::1", "2002:7f00:1::", "2002:808:808::1", "2001::1", "2001:db8::1", "192.88.99.1"),
]


@pytest.mark.parametrize("address", PRIVATE)
def test_an_address_that_is_not_public_is_not_asked(address: str, settings: Settings) -> None:
    settings.OUTGOING_ALLOW = []

    assert not may_be_asked(ip_address(address))


@pytest.mark.parametrize("address", ["93.184.216.34", "8.8.8.8", "2606:2800:220:1::1"])
def test_a_public_address_is_asked(address: str) -> None:
    assert may_be_asked(ip_address(address))


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "2130706433", "0x7f.1", "127.1", "[::1]", "[::ffff:127.0.0.1]"]
)
def test_this_machine_is_refused_however_it_is_spelled(host: str, settings: Settings) -> None:
    settings.OUTGOING_ALLOW = []

    with pytest.raises(OutgoingError, match="not public"):
        fetch(f"http://{host}:8000/")


def test_a_network_or_a_host_that_the_operator_names_is_asked_on_any_port(
    settings: Settings, names: dict[str, list[list[str]]]
) -> None:
    names["wiki.internal"] = [["127.0.0.1"]]
    with web_server(says("hello")) as server:
        settings.OUTGOING_ALLOW = ["wiki.internal"]
        assert fetch(f"http://wiki.internal:{server.port}/").text == "hello"
        with pytest.raises(OutgoingError, match="MEMORYWEB_OUTGOING_ALLOW"):
            fetch(server.url())
        settings.OUTGOING_ALLOW = ["127.0.0.1/32"]
        assert fetch(server.url()).text == "hello"


def test_a_name_is_resolved_once_and_the_connection_goes_to_the_address_that_was_checked(
    settings: Settings, names: dict[str, list[list[str]]]
) -> None:
    settings.OUTGOING_ALLOW = ["127.0.0.2"]
    names["rebound.example"] = [["127.0.0.2"], ["127.0.0.1"]]
    with (
        web_server(says("public"), host="127.0.0.2", port=8080) as public,
        web_server(says("secret"), host="127.0.0.1", port=8080) as secret,
    ):
        assert fetch("http://rebound.example:8080/").text == "public"
        with pytest.raises(OutgoingError, match="not public"):
            fetch("http://rebound.example:8080/")

    assert public.asked[0][2]["host"] == "rebound.example:8080"
    assert secret.asked == []


def test_a_host_of_which_one_address_is_private_is_not_asked(
    names: dict[str, list[list[str]]],
) -> None:
    names["both.example"] = [["93.184.216.34", "10.0.0.1"]]

    with pytest.raises(OutgoingError, match=r"both\.example is an address of this machine"):
        fetch("http://both.example/")


def test_where_one_address_does_not_answer_the_next_one_is_tried(
    names: dict[str, list[list[str]]],
) -> None:
    with web_server(says("hello"), host="127.0.0.1") as server:
        names["127.0.0.1"] = [["127.0.0.3", "127.0.0.1"]]
        assert fetch(server.url()).text == "hello"


def test_tls_checks_the_name_of_the_host_and_not_the_address(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: Settings,
    names: dict[str, list[list[str]]],
) -> None:
    settings.OUTGOING_ALLOW = ["shop.example", "other.example"]
    names["shop.example"] = names["other.example"] = [["127.0.0.1"]]
    presented, checks = certificate_for("shop.example", tmp_path)
    asked: list[str | None] = []
    presented.sni_callback = lambda _socket, name, _context: asked.append(name)
    monkeypatch.setattr(outgoing, "certificates", lambda: checks)
    with web_server(says("over TLS"), tls=presented) as server:
        assert fetch(f"https://shop.example:{server.port}/").text == "over TLS"
        with pytest.raises(OutgoingError, match="CERTIFICATE_VERIFY_FAILED"):
            fetch(f"https://other.example:{server.port}/")

    assert asked == ["shop.example", "other.example"]


# -- redirects -------------------------------------------------------------------------------------


def redirecting(location: str, status: int = 302):
    def answer(request: BaseHTTPRequestHandler) -> None:
        if request.path == "/":
            says("", status=status, Location=location)(request)
        else:
            says(f"at {request.path}")(request)

    return answer


def test_a_redirect_within_the_host_is_followed() -> None:
    with web_server(redirecting("/there?a=1", 308)) as server:
        reply = fetch(server.url())

    assert (reply.text, reply.url) == ("at /there?a=1", server.url("/there?a=1"))


def test_a_redirect_to_another_host_is_named_and_not_followed() -> None:
    with (
        web_server(says("elsewhere")) as other,
        web_server(redirecting(other.url("/x"))) as server,
        pytest.raises(OutgoingError, match=f"redirects to {other.url('/x')}, which is elsewhere"),
    ):
        fetch(server.url())

    assert other.asked == []


def test_each_hop_of_a_redirect_is_checked_again(names: dict[str, list[list[str]]]) -> None:
    names["127.0.0.1"] = [["127.0.0.1"], ["10.0.0.1"]]
    with (
        web_server(redirecting("/there")) as server,
        pytest.raises(OutgoingError, match="not public"),
    ):
        fetch(server.url())

    assert [path for _, path, *_ in server.asked] == ["/"]


@pytest.mark.parametrize("target", ["file:///etc/passwd", "gopher://127.0.0.1/", "http://"])
def test_a_redirect_to_what_is_no_web_address_is_not_followed(target: str) -> None:
    with web_server(redirecting(target)) as server, pytest.raises(OutgoingError):
        fetch(server.url())


def test_a_server_that_redirects_for_ever_is_left() -> None:
    with (
        web_server(lambda request: says("", status=302, Location="/")(request)) as server,
        pytest.raises(OutgoingError, match="redirects more than 5 times"),
    ):
        fetch(server.url())

    assert len(server.asked) == 6


# -- limits ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["nothing", "headers", "body"])
def test_a_server_that_is_silent_is_left_after_a_while(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outgoing, "SECONDS", 0.3)
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
    monkeypatch.setattr(outgoing, "LARGEST_ANSWER", 100_000)
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
    monkeypatch.setattr(outgoing, "LARGEST_ANSWER", 1_000_000)
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
        (f"https://example.org/{'a' * 4000}", "at most 4,000 are allowed"),
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
