"""The fake server's rules: which requests it takes, and which it refuses."""

from collections.abc import Iterator
from typing import Any

import openai
import pytest

from tests.fake_openai import FakeOpenAI
from tests.openai_client import TOOL, USER, ask, post


def call(id: str = "a", **changes: Any) -> dict[str, Any]:
    return {
        "id": id,
        "type": "function",
        "function": {"name": "note", "arguments": "{}"},
    } | changes


def assistant(*made: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(made)}


def returned(id: str = "a") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": "OK"}


def tool(**changes: Any) -> dict[str, Any]:
    return {"type": "function", "function": TOOL["function"] | changes}  # type: ignore[operator]


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as server:
        yield server


@pytest.fixture
def client(server: FakeOpenAI, anywhere: openai.OpenAI) -> openai.OpenAI:
    return anywhere.with_options(base_url=server.base_url)


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "system", "content": "Be kind."}, USER, {"role": "assistant", "content": ""}],
        [{"role": "user", "name": "bob", "content": [{"type": "text", "text": "Hi"}]}],
        [USER, assistant(call("a"), call("b")), returned("b"), returned("a"), USER],
        [USER, assistant(call()), returned(), assistant(call()), returned()],
        [assistant(call(function={"name": "gone", "arguments": '{"broken'})), returned()],
    ],
)
def test_a_proper_conversation_is_taken(
    server: FakeOpenAI, client: openai.OpenAI, messages: list[Any]
) -> None:
    ask(client, *messages, tools=[TOOL], tool_choice="auto", temperature=0.5, stop=None)

    assert server.requests[0]["messages"] == messages
    assert server.refused == []


UNANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
    "'tool_call_id'. The following tool_call_ids did not have response messages: "
)
NO_CALL = (
    "Invalid parameter: messages with role 'tool' must be a response to a preceding message with "
    "'tool_calls'."
)


@pytest.mark.parametrize(
    ("messages", "words", "param"),
    [
        ([assistant(call())], f"{UNANSWERED}a", "messages"),
        ([assistant(call("a"), call("b")), USER], f"{UNANSWERED}a, b", "messages.[1].role"),
        ([assistant(call("a"), call("b")), returned("a"), USER], f"{UNANSWERED}b", None),
        ([assistant(call("a")), USER, returned("a")], f"{UNANSWERED}a", None),
        ([USER, returned()], NO_CALL, "messages.[1].role"),
        ([assistant(call()), returned("b")], "'tool_call_id' of 'b' not found", None),
        (
            [assistant(call()), returned(), returned()],
            "Duplicate value for 'tool_call_id' of 'a', in messages[1] and messages[2].",
            "messages.[2].tool_call_id",
        ),
        ([assistant(call(), call()), returned()], "Duplicate value for 'tool_call_id'", None),
        ([], "Invalid 'messages': empty array.", "messages"),
        (["Hi"], "Invalid type for 'messages[0]': expected an object, but got a string", None),
        ([{"content": "Hi"}], "Missing required parameter: 'messages[0].role'.", None),
        ([{"role": "robot", "content": "Hi"}], "Invalid value: 'robot'. Supported values", None),
        ([{"role": "user", "content": None}], "'content': expected a string, got null.", None),
        ([{"role": "system"}], "'content': expected a string, got null.", "messages.[0].content"),
        ([{"role": "assistant"}], "'content': expected a string, got null.", None),
        ([{"role": "user", "content": 3}], "expected one of a string or array of objects", None),
        ([{"role": "user", "content": []}], "Invalid 'messages[0].content': empty array.", None),
        ([{"role": "user", "content": [{"type": "text"}]}], "'messages[0].content[0].text'", None),
        ([assistant(call()), returned() | {"content": None}], "expected a string, got null", None),
        ([assistant(call()), {"role": "tool", "content": "x"}], "must have a 'tool_call_id'", None),
        ([assistant()], "Invalid 'messages[0].tool_calls': empty array.", None),
        ([assistant(call(""))], "Invalid 'messages[0].tool_calls[0].id': empty string.", None),
        ([assistant(call("x" * 41))], "string too long. Expected a string with maximum", None),
        ([assistant({"id": "a"})], "Missing required parameter: 'messages[0].tool_calls[0]", None),
        ([assistant(call(type="x"))], "Invalid value: 'x'. Supported values are: 'function'", None),
        ([assistant(call(function={}))], "'messages[0].tool_calls[0].function.name'.", None),
        ([assistant(call(function={"name": "x y", "arguments": ""}))], "match pattern", None),
        (
            [assistant(call(function={"name": "x", "arguments": {}}))],
            "function.arguments': expected a string, but got an object instead.",
            None,
        ),
        ([USER | {"id": 3}], "Unknown parameter: 'messages[0].id'.", "messages[0].id"),
        ([USER | {"name": "Bob B"}], "Invalid 'messages[0].name': string does not match", None),
    ],
)
def test_a_conversation_that_breaks_a_rule_is_refused(
    server: FakeOpenAI, messages: list[Any], words: str, param: str | None
) -> None:
    code, answer = post(server, {"model": "fake-model", "messages": messages})

    assert code == 400
    assert answer["error"]["type"] == "invalid_request_error"
    assert words in answer["error"]["message"]
    assert param is None or answer["error"]["param"] == param
    [(body, message)] = server.refused
    assert body["messages"] == messages
    assert message == answer["error"]["message"]
    assert server.requests == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": None}, "you must provide a model parameter"),
        ({"model": 3}, "Invalid type for 'model'"),
        ({"messages": None}, "expected an array of objects, but got null instead."),
        ({"messages": "Hi"}, "expected an array of objects, but got a string instead."),
        ({"top_k": 3}, "Unrecognized request argument supplied: top_k"),
        ({"top_k": 3, "min_p": 0}, "Unrecognized request arguments supplied: min_p, top_k"),
        ({"temperature": "hot"}, "expected a decimal, but got a string instead."),
        ({"temperature": 3}, "Expected a value <= 2, but got 3 instead."),
        ({"max_tokens": 0}, "Invalid 'max_tokens': integer below minimum value."),
        ({"max_tokens": 1.5}, "expected an integer, but got a decimal instead."),
        ({"n": True}, "expected an integer, but got a boolean instead."),
        ({"stream": "yes"}, "Invalid type for 'stream': expected a boolean"),
        ({"stream_options": {"include_usage": True}}, "only allowed when 'stream' is enabled."),
        ({"stream": True, "stream_options": {"usage": True}}, "'stream_options.usage'."),
        ({"tools": []}, "Invalid 'tools': empty array."),
        ({"tools": None}, "expected an array of objects, but got null instead."),
        ({"tools": [{"type": "function"}]}, "Missing required parameter: 'tools[0].function'."),
        ({"tools": [tool(name="a b")]}, "Expected a string that matches the pattern"),
        ({"tools": [tool(name="a\n")]}, "Expected a string that matches the pattern"),
        ({"tools": [tool(name="x" * 65)]}, "Expected a string with maximum length 64"),
        ({"tools": [TOOL, TOOL]}, "Tool names must be unique."),
        ({"tools": [tool(description="x" * 1025)]}, "maximum length 1024"),
        ({"tools": [tool(parameters=[])]}, "expected an object, but got an array instead."),
        ({"tools": [tool(parameters={})]}, "schema must be a JSON Schema of 'type: \"object\"'"),
        ({"tools": [tool(parameters={"type": "object"})]}, "object schema missing properties."),
        (
            {
                "tools": [
                    tool(parameters={"type": "object", "properties": {"x": {"type": "array"}}})
                ]
            },
            "In context=('properties', 'x'), array schema missing items.",
        ),
        ({"tool_choice": "auto"}, "'tool_choice' is only allowed when 'tools' are specified."),
        ({"tools": [TOOL], "tool_choice": "any"}, "'none', 'auto', and 'required'."),
        (
            {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "x"}}},
            "no function named 'x' was specified",
        ),
    ],
)
def test_a_request_that_breaks_a_rule_is_refused(
    server: FakeOpenAI, changes: dict[str, Any], words: str
) -> None:
    code, answer = post(server, {"model": "fake-model", "messages": [USER]} | changes)

    assert code == 400
    assert words in answer["error"]["message"]
    assert len(server.refused) == 1
    assert server.requests == []


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"temperature": NaN}', b"\xff"])
def test_what_is_no_json_object_is_refused(server: FakeOpenAI, raw: bytes) -> None:
    code, answer = post(server, raw)

    assert code == 400
    assert "could not parse the JSON body" in answer["error"]["message"]
    assert server.refused[0][0] == raw


def test_messages_and_the_model_must_be_there(server: FakeOpenAI) -> None:
    assert "Missing required parameter: 'messages'." in str(post(server, {"model": "fake-model"}))
    assert "you must provide a model parameter" in str(post(server, {"messages": [USER]}))


def test_an_unknown_model_or_address_is_not_found(
    server: FakeOpenAI, client: openai.OpenAI
) -> None:
    with pytest.raises(openai.NotFoundError, match="The model `other` does not exist") as raised:
        ask(client, model="other")
    assert raised.value.code == "model_not_found"
    assert len(server.refused) == 1
    with pytest.raises(openai.NotFoundError, match="Invalid URL"):
        client.moderations.create(input="x")


def test_fields_of_other_servers_are_taken_when_allowed(
    server: FakeOpenAI, client: openai.OpenAI
) -> None:
    server.also_allowed = {"top_k", "reasoning_content"}

    thought = {"role": "assistant", "content": "Hi", "reasoning_content": "Hmm"}
    ask(client, USER, thought, USER, extra_body={"top_k": 3})

    assert server.requests[0]["top_k"] == 3
