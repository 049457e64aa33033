"""A log-in that ends takes its sockets along: on a real server, and on a team's two."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.live.consumer import LOGGED_OUT
from tests.support.server import MemoryWeb
from tests.support.site import own_site
from tests.support.visitor import PASSWORD, Visitor, code_of_the_end, say

pytestmark = pytest.mark.slow


def change_password(visitor: Visitor) -> None:
    form = {"oldpassword": PASSWORD, "password1": "another road", "password2": "another road"}
    visitor.post("/accounts/password/change/", **form)


@pytest.mark.sqlite_only
def test_a_socket_of_a_real_server_ends_with_its_log_in(tmp_path: Path) -> None:
    with MemoryWeb(tmp_path, MEMORYWEB_ACCOUNTS="1") as server:
        alice = Visitor(server.url)
        alice.sign_up("alice")
        with alice.socket() as socket:
            say(socket, command="stop", agent="x")
            assert "There is no such agent" in str(socket.recv(timeout=20))
            alice.log_out()
            assert code_of_the_end(socket) == LOGGED_OUT
        alice.log_in("alice")
        with alice.socket() as socket:
            change_password(alice)
            assert code_of_the_end(socket) == LOGGED_OUT
        with alice.socket() as socket:  # who changed it stays logged in
            say(socket, command="stop", agent="x")
            assert "There is no such agent" in str(socket.recv(timeout=20))


@pytest.mark.hosted_only
def test_a_log_out_at_one_process_ends_the_sockets_of_another(tmp_path: Path) -> None:
    key = "the one key that all processes of a team sign with"
    with own_site(tmp_path, MEMORYWEB_ACCOUNTS="1", MEMORYWEB_SECRET_KEY=key) as site:
        here, there = (Visitor(web.url) for web in site.web)
        here.sign_up("alice")
        there.jar = here.jar  # both are behind one address
        with there.socket() as socket:
            here.log_out()
            assert code_of_the_end(socket) == LOGGED_OUT
