"""The fake server against the real client: what it answers, how it misbehaves."""

import http.client
import json
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import openai
import pytest

from tests.support.fake_openai import (
    Answer,
    FakeOpenAI,
    break_off,
    calls,
    context_length,
    empty,
    error_in_stream,
    garbage,
    gated,
    reasoning,
    refuse_connection,
    stall,
    status,
    text,
    text_and_calls,
)
from tests.support.openai_client import TOOL, USER, ask, post


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as server:
        yield server


@pytest.fixture
def client(server: FakeOpenAI, anywhere: openai.OpenAI) -> openai.OpenAI:
    return anywhere.with_options(base_url=server.base_url)


def stream(client: openai.OpenAI, *messages: Any, **more: Any) -> Any:
    return ask(client, *messages, stream=True, **more)


def said(chunks: Any) -> str:
    """The text so far, whatever ended it."""
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


# Answers


def test_text_is_answered_in_order_and_the_default_follows(
    server: FakeOpenAI, client: openai.OpenAI
) -> None:
    server.script(text("One"), lambda body: text(body["messages"][-1]["content"] + " there"))

    answers = [ask(client).choices[0].message.content for _ in range(3)]

    assert answers == ["One", "Hi there", "OK"]
    assert [body["messages"] for body in server.requests] == [[USER]] * 3
    assert json.loads(server.raw_bodies[0]) == server.requests[0]
    assert server.headers[0]["authorization"] == "Bearer any"
    assert server.unused == 0
    assert server.refused == []


def test_a_stream_has_the_role_first_then_pieces_then_finish_then_usage(
    server: FakeOpenAI, client: openai.OpenAI
) -> None:
    server.script(text("Grüße, Welt", chunk=4).using(prompt=30, completion=7))

    chunks = list(stream(client, stream_options={"include_usage": True}))

    assert [chunk.choices[0].delta.content for chunk in chunks[:-1]] == [
        "",
        "Grüß",
        "e, W",
        "elt",
        None,
    ]
    assert chunks[0].choices[0].delta.role == "assistant"
    assert [chunk.choices[0].finish_reason for chunk in chunks[:-1]] == [None] * 4 + ["stop"]
    assert chunks[-1].choices == []
    assert chunks[-1].usage.total_tokens == 37
    assert {chunk.id for chunk in chunks} == {chunks[0].id}


def test_a_stream_is_on_the_wire_as_openai_sends_it(server: FakeOpenAI) -> None:
    connection = http.client.HTTPConnection(urlsplit(server.base_url).netloc, timeout=5)
    body = {"model": "fake-model", "messages": [USER], "stream": True}
    connection.request("POST", "/v1/chat/completions", json.dumps(body))
    response = connection.getresponse()
    events = response.read().decode().split("\n\n")
    connection.close()

    assert response.headers["Content-Type"] == "text/event-stream; charset=utf-8"
    assert all(event.startswith("data: {") for event in events[:-2])
    assert events[-2:] == ["data: [DONE]", ""]
    assert "usage" not in json.loads(events[0].removeprefix("data: "))


def test_usage_is_a_fourth_of_the_characters_and_can_be_left_out(
    server: FakeOpenAI, client: openai.OpenAI
) -> None:
    server.script(text("x" * 40), text("Hi"))

    usage = ask(client, {"role": "user", "content": "y" * 400}).usage
    assert usage.completion_tokens == 10
    assert 100 < usage.prompt_tokens < 120

    server.sends_usage = False
    assert all(not chunk.usage for chunk in stream(client, stream_options={"include_usage": True}))


def test_tool_calls_come_whole_or_in_deltas_by_index(
    server: FakeOpenAI, client: openai.OpenAI
) -> None:
    answer = calls(("note", {"text": "Grüße"}), ("forget", '{"broken'), chunk=4)
    server.script(answer, answer)

    whole = ask(client, tools=[TOOL]).choices[0]
    deltas = [chunk.choices[0].delta for chunk in stream(client, tools=[TOOL])]

    made = [
        (each.id, each.function.name, each.function.arguments) for each in whole.message.tool_calls
    ]
    assert made == [("call_1", "note", '{"text": "Grüße"}'), ("call_2", "forget", '{"broken')]
    assert whole.finish_reason == "tool_calls"
    assert whole.message.content is None
    parts = [delta.tool_calls[0] for delta in deltas if delta.tool_calls]
    heads = [(part.index, part.id, part.function.name) for part in parts if part.id]
    assert heads == [(0, "call_3", "note"), (1, "call_4", "forget")]
    arguments = ["".join(p.function.arguments for p in parts if p.index == i) for i in (0, 1)]
    assert arguments == ['{"text": "Grüße"}', '{"broken']
    assert deltas[0].role == "assistant"
    assert deltas[0].content is None


def test_tool_calls_may_have_empty_or_equal_ids(server: FakeOpenAI, client: openai.OpenAI) -> None:
    server.script(
        calls(("note", {}), ("note", {}), ids=["", ""]),
        text_and_calls("Noted.", ("note", {}), ("note", {}), ids=["x", "x"]),
    )

    assert [each.id for each in ask(client).choices[0].message.tool_calls] == ["", ""]
    message = ask(client).choices[0].message
    assert message.content == "Noted."
    assert [each.id for each in message.tool_calls] == ["x", "x"]


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_goes_before_the_answer_in_its_own_field(
    server: FakeOpenAI, client: openai.OpenAI, field: str
) -> None:
    server.script(reasoning("Hmm, a greeting", then=text("Hello"), field=field))

    deltas = [chunk.choices[0].delta for chunk in stream(client)]

    thought = [getattr(delta, field, "") for delta in deltas]
    assert "".join(thought) == "Hmm, a greeting"
    assert thought[-1] == ""
    assert "".join(delta.content or "" for delta in deltas) == "Hello"


def test_an_empty_answer_finishes_without_content(
    server: FakeOpenAI, client: openai.OpenAI
) -> None:
    server.script(empty(), empty(), text("Half a sen", finish="length"))

    assert ask(client).choices[0].message.content is None
    chunks = list(stream(client))
    assert said(chunks) == ""
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert ask(client).choices[0].finish_reason == "length"


def test_answers_scripted_for_one_agent_go_to_it_alone(
    server: FakeOpenAI, client: openai.OpenAI
) -> None:
    server.models.append("other")
    server.script(text("For anybody"))
    server.script_for(lambda body: body["model"] == "other", text("For the other"))

    assert ask(client).choices[0].message.content == "For anybody"
    assert ask(client, model="other").choices[0].message.content == "For the other"


def test_many_clients_at_once_get_one_scripted_answer_each(
    server: FakeOpenAI, client: openai.OpenAI
) -> None:
    server.script(*(text(f"Answer {number}") for number in range(16)))
    heard: list[str] = []
    threads = [
        threading.Thread(target=lambda: heard.append(said(stream(client)))) for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(heard) == sorted(f"Answer {number}" for number in range(16))
    assert len(server.requests) == 16


def test_a_connection_is_kept_alive_from_request_to_request(
    server: FakeOpenAI, client: openai.OpenAI
) -> None:
    server.script(text("One"), status(500))
    ask(client)
    with pytest.raises(openai.InternalServerError):
        ask(client)
    with pytest.raises(openai.BadRequestError):
        ask(client, tools=[])
    server.failures.clear()
    # The last: the client itself closes a connection whose stream it left at [DONE].
    said(stream(client))

    assert server.connections == 1


def test_models_are_listed(server: FakeOpenAI, client: openai.OpenAI) -> None:
    server.models = ["small", "large"]

    assert [model.id for model in client.models.list()] == ["small", "large"]
    assert client.models.retrieve("large").id == "large"
    with pytest.raises(openai.NotFoundError, match="The model `huge` does not exist"):
        client.models.retrieve("huge")


# Failures


@pytest.mark.parametrize(
    ("code", "error", "words"),
    [
        (401, openai.AuthenticationError, "Incorrect API key provided"),
        (404, openai.NotFoundError, "does not exist or you do not have access"),
        (429, openai.RateLimitError, "Rate limit reached"),
        (500, openai.InternalServerError, "The server had an error"),
        (503, openai.InternalServerError, "overloaded"),
    ],
)
def test_a_status_is_answered_in_the_apis_words(
    server: FakeOpenAI,
    client: openai.OpenAI,
    code: int,
    error: type[openai.APIStatusError],
    words: str,
) -> None:
    server.script(status(code), status(code, "Mine", {"Retry-After": "1"}))

    with pytest.raises(error, match=words):
        ask(client)
    with pytest.raises(error, match="Mine") as raised:
        stream(client)
    assert raised.value.response.headers["Retry-After"] == "1"
    assert len(server.requests) == 2
    assert server.refused == []


def test_a_context_that_is_too_long_has_its_code(server: FakeOpenAI, client: openai.OpenAI) -> None:
    server.script(context_length(limit=4096))

    with pytest.raises(openai.BadRequestError, match="maximum context length is 4096") as raised:
        stream(client)
    assert raised.value.code == "context_length_exceeded"


def test_a_stream_that_breaks_off_leaves_its_part_and_an_error(
    server: FakeOpenAI, client: openai.OpenAI
) -> None:
    server.script(break_off(after="partial tex"), break_off())
    heard: list[str] = []

    with pytest.raises(openai.APIConnectionError):
        heard.extend(chunk.choices[0].delta.content for chunk in stream(client))
    assert "".join(heard) == "partial tex"
    with pytest.raises(openai.APIConnectionError):
        ask(client)
    assert not server.closed_by_client.is_set()


def test_a_stream_may_end_cleanly_with_no_finish_reason(
    server: FakeOpenAI, client: openai.OpenAI
) -> None:
    server.script(break_off(after="partial", cleanly=True))

    chunks = list(stream(client))

    assert said(chunks) == "partial"
    assert not any(chunk.choices[0].finish_reason for chunk in chunks)


def test_garbage_in_a_stream_is_no_json(server: FakeOpenAI, client: openai.OpenAI) -> None:
    server.script(garbage(after="part"))

    with pytest.raises(json.JSONDecodeError):
        said(stream(client))


def test_an_error_may_come_in_the_middle_of_a_stream(
    server: FakeOpenAI, client: openai.OpenAI
) -> None:
    server.script(error_in_stream("CUDA out of memory", after="part"), error_in_stream("Again"))
    chunks = stream(client)

    assert next(chunks).choices[0].delta.role == "assistant"
    assert next(chunks).choices[0].delta.content == "part"
    with pytest.raises(openai.APIError, match="CUDA out of memory"):
        next(chunks)
    with pytest.raises(openai.InternalServerError, match="Again"):
        ask(client)


def test_a_client_that_leaves_a_silent_stream_is_noticed(
    server: FakeOpenAI, client: openai.OpenAI
) -> None:
    server.script(stall(after="part"))
    chunks = stream(client)
    assert [next(chunks).choices[0].delta.content for _ in range(2)] == ["", "part"]
    assert not server.closed_by_client.is_set()

    chunks.close()

    assert server.closed_by_client.wait(5)
    assert len(server.closings) == 1


@pytest.mark.parametrize("streaming", [True, False])
def test_a_client_that_times_out_before_the_first_byte_is_noticed(
    server: FakeOpenAI, client: openai.OpenAI, streaming: bool
) -> None:
    server.script(stall())

    with pytest.raises(openai.APITimeoutError):
        ask(client, stream=streaming, timeout=0.05)
    assert server.closed_by_client.wait(5)


def test_stopping_the_server_ends_a_silent_stream(client: openai.OpenAI) -> None:
    server = FakeOpenAI().start()
    server.script(stall(after="part"))
    chunks = stream(client.with_options(base_url=server.base_url))
    next(chunks)

    server.stop()

    with pytest.raises(openai.APIConnectionError):
        list(chunks)
    assert not server.closed_by_client.is_set()
    with pytest.raises(openai.APIConnectionError):
        ask(client.with_options(base_url=server.base_url))


def test_a_gate_lets_a_stream_through_piece_by_piece(
    server: FakeOpenAI, client: openai.OpenAI
) -> None:
    gate = gated(text("abcdef", chunk=2))
    server.script(gate)
    chunks = stream(client)
    next(chunks)
    gate.wait()

    gate.release()
    assert next(chunks).choices[0].delta.content == "ab"
    gate.wait()
    gate.release(2)
    assert said([next(chunks), next(chunks)]) == "cdef"
    gate.wait()
    assert not server.closed_by_client.is_set()
    gate.open()
    assert [chunk.choices[0].finish_reason for chunk in chunks] == ["stop"]


def test_a_client_that_leaves_at_a_gate_is_noticed(
    server: FakeOpenAI, client: openai.OpenAI
) -> None:
    gate = gated(text("abcdef"))
    server.script(gate)
    chunks = stream(client)
    gate.wait()

    chunks.close()

    assert server.closed_by_client.wait(5)


def test_a_gate_holds_a_whole_answer_and_a_status_too(
    server: FakeOpenAI, client: openai.OpenAI
) -> None:
    for answer in (text("Hello"), status(500)):
        gate = gated(answer)
        server.script(gate)
        outcome: list[Any] = []
        thread = threading.Thread(target=lambda heard=outcome: heard.append(_outcome(client)))
        thread.start()
        gate.wait()
        assert outcome == []
        gate.open()
        thread.join()
        assert outcome == ["Hello" if answer.content else openai.InternalServerError]


def _outcome(client: openai.OpenAI) -> Any:
    try:
        return ask(client).choices[0].message.content
    except openai.APIError as error:
        return type(error)


def test_a_test_can_wait_for_a_request(server: FakeOpenAI, client: openai.OpenAI) -> None:
    thread = threading.Thread(target=ask, args=(client,))
    thread.start()

    assert server.wait_for_requests(1)[0]["messages"] == [USER]
    thread.join()
    with pytest.raises(AssertionError, match="1 requests came, not 2"):
        server.wait_for_requests(2, timeout=0)


def test_what_a_scripted_callable_raises_is_raised_by_stop(client: openai.OpenAI) -> None:
    def expect_a_tool(body: dict[str, Any]) -> Answer:
        assert "tools" in body, "no tools were offered"
        return text("OK")

    server = FakeOpenAI().start()
    server.script(expect_a_tool)
    with pytest.raises(openai.InternalServerError, match="no tools were offered"):
        ask(client.with_options(base_url=server.base_url, max_retries=2))

    with pytest.raises(AssertionError, match="no tools were offered"):
        server.stop()
    assert len(server.requests) == 1


def test_where_nobody_listens_a_connection_is_refused(client: openai.OpenAI) -> None:
    with pytest.raises(openai.APIConnectionError):
        ask(client.with_options(base_url=refuse_connection()))


def test_a_key_is_asked_for_when_the_server_has_one(
    server: FakeOpenAI, client: openai.OpenAI
) -> None:
    server.api_key = "right"

    with pytest.raises(openai.AuthenticationError, match="Incorrect API key provided: any"):
        ask(client)
    with pytest.raises(openai.AuthenticationError):
        client.models.list()
    code, answer = post(server, {})
    assert code == 401
    assert "You didn't provide an API key" in answer["error"]["message"]
    assert ask(client.with_options(api_key="right")).choices[0].message.content == "OK"
