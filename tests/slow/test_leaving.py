"""Processes that are asked to end: workers hand runs on, web processes send their pages away."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Origin

from tests.support.fake_openai import FakeOpenAI, calls, gated, stall, text
from tests.support.server import MemoryWeb, eventually
from tests.support.site import Site, own_site
from tests.support.visitor import code_of_the_end, say

pytestmark = pytest.mark.slow
APPEND = ("core_memory_append", {"label": "human", "content": "Likes cherry pie"})
RESTARTS = 1012
HANDED_ON_WITHIN = 20.0


@pytest.fixture
def site(tmp_path: Path, model: FakeOpenAI) -> Iterator[Site]:
    with own_site(tmp_path, model) as started:
        yield started


@pytest.mark.hosted_only
def test_a_worker_ends_its_step_and_another_goes_on_with_the_run(
    site: Site, model: FakeOpenAI
) -> None:
    gate = gated(calls(APPEND))
    model.script(gate, text("Noted."))
    first = site.worker()
    agent = site.web[0].make_agent(human="Name: Bob")
    with site.web[1].page(agent) as page:
        page.send("I like cherry pie.")
        gate.wait(30)
        first.send_signal(signal.SIGTERM)
        gate.release(1000)
        assert first.wait(HANDED_ON_WITHIN) == 0
        assert site.ask("SELECT status, seen_at, tries FROM agents_run") == [("running", None, 0)]
        assert len(model.requests) == 1
        site.worker()
        page.wait_for("Noted.")
        page.wait_for("ended done")
    assert site.ask("SELECT status FROM agents_step ORDER BY id") == [("done",), ("done",)]
    assert site.ask("SELECT version FROM agents_block WHERE label = 'human'") == [(1,)]


@pytest.mark.hosted_only
def test_a_step_that_takes_too_long_is_cut_off_and_taken_again_elsewhere(
    site: Site, model: FakeOpenAI
) -> None:
    model.script(stall("Once upon"), text("Here I am again."))
    first = site.worker()
    agent = site.web[0].make_agent()
    with site.web[1].page(agent) as page:
        page.send("Tell me a story")
        page.wait_for("Once")
        site.worker()
        first.send_signal(signal.SIGTERM)
        assert first.wait(HANDED_ON_WITHIN) == 0
        page.wait_for("Here I am again.")
        page.wait_for("ended done")
    said = "SELECT content, status FROM agents_message WHERE role = 'assistant' ORDER BY id"
    assert site.ask(said) == [("Once upon", "broken"), ("Here I am again.", "complete")]


@pytest.mark.hosted_only
def test_a_web_process_sends_its_pages_to_another_and_they_miss_nothing(
    site: Site, model: FakeOpenAI
) -> None:
    gate = gated(text("Hello there, my friend."))
    model.script(gate)
    site.worker()
    one, two = site.web
    agent = one.make_agent()
    with one.page(agent) as page:
        page.send("Hello")
        gate.release(2)
        page.wait_for("Hello")
        one.terminate()
        with pytest.raises(ConnectionClosed) as closed:
            list(page.frames())
        assert closed.value.rcvd
        assert closed.value.rcvd.code == RESTARTS
        last = page.seen[-1][0]
    assert one.interrupt() == 0
    gate.release(1000)
    with two.page(agent, after=last) as page:
        page.wait_for("Hello there, my friend.")
        page.wait_for("ended done")


@pytest.mark.sqlite_only
def test_a_single_process_closes_its_sockets_with_a_code_and_ends(tmp_path: Path) -> None:
    with MemoryWeb(tmp_path) as server:
        address = f"ws://127.0.0.1:{server.port}/ws/"
        with connect(address, origin=Origin(server.url)) as socket:
            say(socket, command="stop", agent="x")
            assert "There is no such agent" in str(socket.recv(timeout=20))
            server.terminate()
            assert code_of_the_end(socket) == RESTARTS
        assert server.interrupt() == 0


@pytest.mark.hosted_only
def test_processes_say_how_many_connections_they_may_take(site: Site) -> None:
    site.worker()

    def names() -> bool:
        told = site.ask(
            "SELECT DISTINCT split_part(application_name, ' ', 2) || ' ' ||"
            " split_part(application_name, ' ', 3) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name LIKE 'memoryweb%' ORDER BY 1"
        )
        return told == [("web max=18",), ("worker max=23",)]

    eventually(names)
