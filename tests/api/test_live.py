"""The API of a real server: what pages see of it, streams that break, answers that take long."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.api_script import Script, events
from tests.support.fake_openai import FakeOpenAI, calls, gated, text
from tests.support.server import MemoryWeb, eventually

pytestmark = [pytest.mark.slow, pytest.mark.sqlite_only]
FILES = Path(__file__).parents[1] / "support" / "agent_files"


@pytest.fixture(scope="module")
def model() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as scripted:
        yield scripted


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, model: FakeOpenAI) -> Iterator[MemoryWeb]:
    with MemoryWeb(tmp_path_factory.mktemp("live"), model) as server:
        yield server


@pytest.fixture(autouse=True)
def nothing_asked_yet(model: FakeOpenAI) -> None:
    """Whatever the test before has left."""
    model.forget()


@pytest.fixture
def script(server: MemoryWeb) -> Script:
    return Script(server)


def bare(path: str) -> str:
    return path.removeprefix("/agents/agent-")


def test_pages_show_at_once_what_a_script_does(
    server: MemoryWeb, script: Script, model: FakeOpenAI
) -> None:
    path = script.agent(name="Tutor")
    with server.page(bare(path)) as page:
        script.ask("PATCH", f"{path}/core-memory/blocks/human", {"value": "Name: Ann"})
        page.wait_for("Ann<")
        page.wait_for("owner")
        assert any(re.search(r"\bAPI\b", content) for _, content in page.seen)
        gate = gated(text("Hello there"))
        model.script(gate)
        with ThreadPoolExecutor() as pool:
            asked = pool.submit(script.ask, "POST", f"{path}/messages", {"input": "Greetings!"})
            page.wait_for("Greetings!")
            gate.open()
            page.wait_for("Hello there")
            assert asked.result()["messages"][0]["content"] == "Hello there"
        script.agent(name="Newcomer")
        next(frame for frame in page.frames() if "Newcomer" in frame.get("content", ""))
        made = script.upload((FILES / "single.af").read_bytes())
        assert made["name"] == "librarian_copy"
        next(frame for frame in page.frames() if "librarian_copy" in frame.get("content", ""))
        script.ask("PATCH", f"{path}/reset-messages", {})
        next(frame for frame in page.frames() if frame.get("kind") == "reset")


def test_a_token_stream_comes_as_the_model_speaks_and_is_taken_up_where_it_broke(
    script: Script, model: FakeOpenAI
) -> None:
    path = script.agent()
    gate = gated(text("One two three four", chunk=4))
    model.script(gate)
    asked = {"input": "Count", "stream_tokens": True}
    connection, response = script.open("POST", f"{path}/messages/stream", asked)
    coming = events(response)
    assert next(coming)["message_type"] == "ping"
    gate.release(2)
    first = next(coming)
    assert first["message_type"] == "assistant_message"
    assert "One two three four".startswith(first["content"])
    assert first["content"] != "One two three four", "the model is not done"
    response.close()
    connection.close()  # it breaks
    gate.open()
    run = script.ask("GET", "/runs/")[0]["id"]
    going_on = {"starting_after": first["seq_id"], "include_pings": False}
    connection, response = script.open("POST", f"/runs/{run}/stream", going_on)
    with closing(connection):
        rest = list(events(response))
    said = [each for each in rest if each["message_type"] == "assistant_message"]
    assert first["content"] + "".join(each["content"] for each in said) == "One two three four"
    assert {each["id"] for each in said} == {first["id"]}
    assert [each["message_type"] for each in rest[-2:]] == ["stop_reason", "usage_statistics"]


def test_a_run_goes_on_when_its_reader_leaves(script: Script, model: FakeOpenAI) -> None:
    path = script.agent()
    gate = gated(text("Nobody reads this"))
    model.script(gate)
    connection, response = script.open("POST", f"{path}/messages/stream", {"input": "Hi"})
    next(events(response))
    response.close()
    connection.close()
    gate.open()
    eventually(lambda: script.ask("GET", "/runs/")[0]["status"] == "completed")
    assert script.ask("GET", f"{path}/messages")[-1]["content"] == "Nobody reads this"


def test_many_who_wait_keep_nobody_from_being_answered(script: Script, model: FakeOpenAI) -> None:
    paths = [script.agent() for _ in range(24)]
    gates = [gated(text("Done")) for _ in paths]
    model.script(*gates)
    with ThreadPoolExecutor(len(paths)) as pool:
        waiting = [
            pool.submit(script.ask, "POST", f"{path}/messages", {"input": "Hi"}) for path in paths
        ]
        model.wait_for_requests(len(paths), timeout=30)
        script.ask("PATCH", f"{paths[0]}/core-memory/blocks/human", {"value": "Meanwhile"})
        assert script.ask("GET", paths[0])["blocks"][0]["value"] == "Meanwhile"
        assert not any(each.done() for each in waiting)
        for gate in gates:
            gate.open()
        assert all(each.result()["messages"][0]["content"] == "Done" for each in waiting)


def test_a_message_waits_its_turn_behind_another(script: Script, model: FakeOpenAI) -> None:
    path = script.agent()
    gate = gated(text("First"))
    model.script(gate, text("Second"))
    with ThreadPoolExecutor() as pool:
        one = pool.submit(script.ask, "POST", f"{path}/messages", {"input": "1"})
        model.wait_for_requests(1)
        two = pool.submit(script.ask, "POST", f"{path}/messages", {"input": "2"})
        runs = f"/runs/?agent_id={path.removeprefix('/agents/')}"
        eventually(lambda: len(script.ask("GET", runs)) == 2)
        gate.open()
        assert one.result()["messages"][0]["content"] == "First"
        assert two.result()["messages"][0]["content"] == "Second"


def test_a_run_is_followed_over_a_killed_server(
    server: MemoryWeb, script: Script, model: FakeOpenAI
) -> None:
    path = script.agent(tools=["core_memory_append"])
    append = {"label": "human", "content": "Likes pie"}
    gate = gated(text("Noted"))
    model.script(calls(("core_memory_append", append)), gate)
    run = script.ask("POST", f"{path}/messages/async", {"input": "I like pie"})["id"]
    model.wait_for_requests(2)
    server.kill()
    model.script(text("Noted"))
    server.start()
    connection, response = script.open("POST", f"/runs/{run}/stream", {"include_pings": False})
    with closing(connection):
        kinds = [each["message_type"] for each in events(response)]
    assert kinds[:3] == ["tool_call_message", "tool_return_message", "assistant_message"]
    value = script.ask("GET", f"{path}/core-memory/blocks/human")["value"]
    assert value == "Name: Bob\nLikes pie", "written once"


REFUSED = [
    ({"host": "evil.example"}, 400),
    ({"host": "127.0.0.1.evil.example"}, 400),
    ({"origin": "https://evil.example"}, 403),
    ({"origin": "null"}, 403),
    ({"x_forwarded_for": "8.8.8.8"}, 403),
    ({"content_type": "text/plain"}, 415),
    ({"cookie": "memoryweb_csrf=x"}, 403),
    ({"authorization": "Bearer mw_wrong"}, 401),
]


def test_the_door_is_the_same_without_the_pages_middleware(script: Script) -> None:
    before = script.ask("GET", "/agents/count")
    for headers, expect in REFUSED:
        named = {"Content-Type": "application/json"} | {
            name.replace("_", "-").title(): value for name, value in headers.items()
        }
        with closing(
            http.client.HTTPConnection("127.0.0.1", script.server.port, timeout=30)
        ) as connection:
            connection.putrequest("POST", "/v1/agents/", skip_host="Host" in named)
            for name, value in named.items():
                connection.putheader(name, value)
            connection.putheader("Content-Length", "2")
            connection.endheaders(b"{}")
            response = connection.getresponse()
            assert (response.status, "detail" in json.loads(response.read())) == (expect, True)
    assert script.ask("GET", "/agents/count") == before
    assert "detail" in script.ask("GET", "/nothing/", expect=404)
