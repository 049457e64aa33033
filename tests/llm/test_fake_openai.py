"""The fake server against the official client: what it streams, how it fails, who hangs up."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from tests.support.fake_openai import (
    FakeOpenAI,
    break_off,
    calls,
    error_in_stream,
    garbage,
    gated,
    reasoning,
    stall,
    status,
    text,
)
from tests.support.openai_client import TOOL, USER, ask


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as server:
        yield server


@pytest.fixture
def client(server: FakeOpenAI, anywhere: openai.OpenAI) -> openai.OpenAI:
    return anywhere.with_options(base_url=server.base_url)


def content(chunks: Any) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def test_scripted_answers_come_in_order_and_then_the_default(
    server: FakeOpenAI, client: openai.OpenAI
) -> None:
    server.script(text("One"), lambda body: text(body["messages"][-1]["content"] + " there"))
    assert [content(ask(client)) for _ in range(3)] == ["One", "Hi there", "OK"]
    assert [body["messages"] for body in server.requests] == [[USER]] * 3
    assert json.loads(server.raw_bodies[0]) == server.requests[0]
    assert server.unused == 0


def test_many_clients_at_once_get_one_scripted_answer_each(
    server: FakeOpenAI, client: openai.OpenAI
) -> None:
    server.script(*(text(f"Answer {number}") for number in range(16)))
    answers: list[str] = []
    threads = [
        threading.Thread(target=lambda: answers.append(content(ask(client)))) for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == sorted(f"Answer {number}" for number in range(16))


def test_a_stream_has_the_role_pieces_the_finish_reason_and_the_usage(
    server: FakeOpenAI, client: openai.OpenAI
) -> None:
    server.script(reasoning("Hm", text("Grüße, Welt", chunk=4, usage=(30, 7))))
    *chunks, last = ask(client, stream_options={"include_usage": True})
    deltas = [chunk.choices[0].delta for chunk in chunks]
    assert deltas[0].role == "assistant"
    assert deltas[1].reasoning_content == "Hm"
    assert [delta.content for delta in deltas[2:]] == ["Grüß", "e, W", "elt", None]
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert last.usage.total_tokens == 37


def test_tool_calls_come_in_deltas_by_index(server: FakeOpenAI, client: openai.OpenAI) -> None:
    server.script(calls(("note", {"text": "Grüße"}), ("forget", '{"broken')))
    chunks = list(ask(client, tools=[TOOL]))
    parts = [part for chunk in chunks for part in chunk.choices[0].delta.tool_calls or []]
    heads = [(part.index, part.id, part.function.name) for part in parts if part.id]
    assert heads == [(0, "call_1", "note"), (1, "call_2", "forget")]
    arguments = ["".join(p.function.arguments for p in parts if p.index == i) for i in (0, 1)]
    assert arguments == ['{"text": "Grüße"}', '{"broken']
    assert chunks[-1].choices[0].finish_reason == "tool_calls"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (break_off("part"), openai.APIConnectionError),
        (garbage("part"), json.JSONDecodeError),
        (error_in_stream("CUDA out of memory", "part"), openai.APIError),
    ],
)
def test_a_stream_may_fail_in_the_middle(
    server: FakeOpenAI, client: openai.OpenAI, answer: Any, error: type[Exception]
) -> None:
    server.script(answer)
    pieces: list[str] = []
    with pytest.raises(error):
        pieces.extend(chunk.choices[0].delta.content for chunk in ask(client))
    assert "".join(pieces) == "part"
    assert not server.closed_by_client.is_set()


def test_a_stream_may_end_without_a_finish_reason(
    server: FakeOpenAI, client: openai.OpenAI
) -> None:
    server.script(break_off("part", cleanly=True))
    chunks = list(ask(client))
    assert content(chunks) == "part"
    assert not any(chunk.choices[0].finish_reason for chunk in chunks)


def test_a_status_has_words_and_headers(server: FakeOpenAI, client: openai.OpenAI) -> None:
    server.script(status(429, "Mine", {"Retry-After": "1"}))
    with pytest.raises(openai.RateLimitError, match="Mine") as raised:
        ask(client)
    assert raised.value.response.headers["Retry-After"] == "1"


def test_a_client_that_leaves_is_noticed(server: FakeOpenAI, client: openai.OpenAI) -> None:
    for answer in (stall("part"), gated(text("part"))):
        server.script(answer)
        chunks = ask(client)
        next(chunks)
        assert not server.closed_by_client.is_set()
        chunks.close()
        assert server.closed_by_client.wait(5)
        server.closed_by_client.clear()
    server.script(stall())
    with pytest.raises(openai.APITimeoutError):
        ask(client, timeout=0.05)
    assert server.closed_by_client.wait(5)


def test_a_gate_lets_a_stream_through_piece_by_piece(
    server: FakeOpenAI, client: openai.OpenAI
) -> None:
    gate = gated(text("abcdef", chunk=2))
    server.script(gate)
    chunks = ask(client)
    next(chunks)
    gate.wait()
    gate.release(2)
    assert content([next(chunks), next(chunks)]) == "abcd"
    gate.wait()
    gate.open()
    assert content(chunks) == "ef"


def test_stopping_the_server_ends_a_silent_stream(anywhere: openai.OpenAI) -> None:
    server = FakeOpenAI().start()
    server.script(stall("part"))
    chunks = ask(anywhere.with_options(base_url=server.base_url))
    next(chunks)
    server.stop()
    with pytest.raises(openai.APIConnectionError):
        list(chunks)
    assert not server.closed_by_client.is_set()


def test_what_a_scripted_callable_raises_is_raised_by_stop(anywhere: openai.OpenAI) -> None:
    def expect_a_tool(body: dict[str, Any]) -> Any:
        assert "tools" in body, "no tools were offered"

    server = FakeOpenAI().start()
    server.script(expect_a_tool)
    with pytest.raises(openai.InternalServerError, match="no tools were offered"):
        ask(anywhere.with_options(base_url=server.base_url, max_retries=2))
    with pytest.raises(AssertionError, match="no tools were offered"):
        server.stop()
    assert len(server.requests) == 1


def test_a_test_can_wait_for_a_request(server: FakeOpenAI, client: openai.OpenAI) -> None:
    thread = threading.Thread(target=ask, args=(client,))
    thread.start()
    assert server.wait_for_requests(1)[0]["messages"] == [USER]
    thread.join()
    with pytest.raises(AssertionError, match="1 requests came, not 2"):
        server.wait_for_requests(2, timeout=0)
