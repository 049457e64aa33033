"""Requests to addresses that people and models name: nobody reaches what is not public."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from agents import outgoing
from agents.outgoing import OutgoingError, addresses, fetch, may_be_asked, requests
from tests.support.web_servers import certificate_for, redirecting, says, web_server


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[list[str]]]:
    """What the name server says of each host, each time it is asked: the last answer stays."""
    answers: dict[str, list[list[str]]] = {}

    async def resolve(host: str, port: int) -> list[str]:
        left = answers.get(host) or [[host]]
        return left.pop(0) if len(left) > 1 else left[0]

    monkeypatch.setattr(addresses, "resolve", resolve)
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
    monkeypatch.setattr(requests, "certificates", lambda: checks)
    with web_server(says("over TLS"), tls=presented) as server:
        assert fetch(f"https://shop.example:{server.port}/").text == "over TLS"
        with pytest.raises(OutgoingError, match="CERTIFICATE_VERIFY_FAILED"):
            fetch(f"https://other.example:{server.port}/")

    assert asked == ["shop.example", "other.example"]


@pytest.mark.parametrize("entry", ["10.0.0.0/99", "10.1.2", "http://wiki", "wiki:8000", "*.org"])
def test_what_the_operator_allows_is_read_at_the_start(entry: str, settings: Settings) -> None:
    settings.OUTGOING_ALLOW = ["10.1.0.0/16", "wiki.internal", "::1", entry]
    with pytest.raises(ImproperlyConfigured, match="which is neither a network"):
        outgoing.check_settings()
    settings.OUTGOING_ALLOW, settings.SEARXNG_URL = ["wiki"], "localhost:8888"
    with pytest.raises(ImproperlyConfigured, match=r"MEMORYWEB_SEARXNG_URL: .* must begin with"):
        outgoing.check_settings()


# -- redirects -------------------------------------------------------------------------------------


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
