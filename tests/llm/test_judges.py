"""The judges of requests: what each takes, and what each refuses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import openai
import pytest

from tests.support import judges
from tests.support.fake_openai import FakeOpenAI
from tests.support.openai_client import TOOL, USER, ask, post

SYSTEM = {"role": "system", "content": "Be kind."}
NINE = "abcDEF123"
NOTE = {"name": "note", "arguments": "{}"}


def call(id: str = "a", **changes: Any) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": NOTE} | changes


def assistant(*made: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(made)} | more


def said(content: Any = "Hello") -> dict[str, Any]:
    return {"role": "assistant", "content": content}


def returned(id: str = "a") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": "OK"}


def tool(**changes: Any) -> dict[str, Any]:
    return {"type": "function", "function": TOOL["function"] | changes}  # type: ignore[operator]


def broken(messages: Any, url: str = "", model: str = "m", **more: Any) -> str:
    body = {"model": model, "messages": messages, "stream": True} | more
    return "; ".join(judges.broken_rules(url, body))


@pytest.mark.parametrize(
    "messages",
    [
        [SYSTEM, USER, said("")],
        [{"role": "user", "name": "bob", "content": [{"type": "text", "text": "Hi"}]}],
        [USER, assistant(call("a"), call("b")), returned("b"), returned("a"), USER],
        [USER, assistant(call()), returned(), assistant(call()), returned()],
        [assistant(call(function={"name": "gone", "arguments": "{}"})), returned()],
    ],
)
def test_a_proper_conversation_is_taken(messages: list[Any]) -> None:
    assert not broken(messages, tools=[TOOL], tool_choice="auto", temperature=0.5, stop=None)


def test_broken_arguments_are_taken_by_openai_alone() -> None:
    assert not broken(BROKEN, "https://api.openai.com/v1")
    assert "many servers: messages[1]: the arguments" in broken(BROKEN)


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([assistant(call())], "are not answered"),
        ([assistant(call("a"), call("b")), USER], "before the calls ['a', 'b'] are answered"),
        ([assistant(call("a"), call("b")), returned("a"), USER], "['b']"),
        ([assistant(call("a")), USER, returned("a")], "['a']"),
        ([USER, returned()], "answers no call"),
        ([assistant(call()), returned("b")], "answers no call"),
        ([assistant(call()), returned(), returned()], "answered already"),
        ([assistant(call(), call()), returned()], "two calls with one id"),
        ([], "[] has less than 1 item"),
        (["Hi"], "no role"),
        ([{"content": "Hi"}], "no role"),
        ([{"role": "robot", "content": "Hi"}], "no role"),
        ([{"role": "user", "content": None}], "['content']"),
        ([{"role": "system"}], '"content" is a required property'),
        ([{"role": "assistant"}], "neither content nor calls"),
        ([{"role": "user", "content": 3}], "['content']"),
        ([{"role": "user", "content": []}], "empty list as its content"),
        ([{"role": "user", "content": [{"type": "text"}]}], "['content']"),
        ([assistant(call()), returned() | {"content": None}], "['content']"),
        ([assistant(call()), {"role": "tool", "content": "x"}], '"tool_call_id" is a required'),
        ([assistant()], "empty list of calls"),
        ([assistant(call(""))], "an id of 0 characters"),
        ([assistant(call("x" * 41))], "an id of 41 characters"),
        ([assistant({"id": "a"})], "['tool_calls']"),
        ([assistant(call(type="x"))], "['tool_calls']"),
        ([assistant(call(function={}))], "['tool_calls']"),
        ([assistant(call(function={"name": "x y", "arguments": ""}))], "calls 'x y'"),
        ([assistant(call(function={"name": "x", "arguments": {}}))], "['tool_calls']"),
        ([USER | {"id": 3}], "('id' was unexpected)"),
        ([said() | {"reasoning_content": "Hm"}], "('reasoning_content' was unexpected)"),
    ],
)
def test_a_conversation_that_breaks_a_rule_is_refused(messages: list[Any], words: str) -> None:
    assert words in broken(messages)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": None}, "['model']"),
        ({"model": 3}, "['model']"),
        ({"messages": None}, "null is not of type"),
        ({"messages": "Hi"}, "is not of type"),
        ({"top_k": 3}, "'top_k' was unexpected"),
        ({"temperature": "hot"}, "['temperature']"),
        ({"temperature": 3}, "greater than the maximum of 2"),
        ({"max_tokens": 0}, "less than the minimum of 1"),
        ({"max_tokens": 1.5}, "['max_tokens']"),
        ({"n": True}, "['n']"),
        ({"stream": "yes"}, "['stream']"),
        ({"stream": False, "stream_options": {"include_usage": True}}, "only allowed where stream"),
        ({"stream_options": {"usage": True}}, "['stream_options']"),
        ({"tools": []}, "[] has less than 1 item"),
        ({"tools": [tool(name=f"n{n}") for n in range(129)]}, "more than 128 items"),
        ({"tools": None}, "['tools']"),
        ({"tools": [{"type": "function"}]}, "['tools']"),
        ({"tools": [tool(name="a b")]}, "'a b' may not be the name"),
        ({"tools": [tool(name="a\n")]}, "may not be the name"),
        ({"tools": [tool(name="x" * 65)]}, "may not be the name"),
        ({"tools": [TOOL, TOOL]}, "two tools are called 'note'"),
        ({"tools": [tool(description="x" * 1025)]}, "more than 1,024 characters"),
        ({"tools": [tool(parameters=[])]}, "['tools']"),
        ({"tools": [tool(parameters={})]}, "no schema of an object"),
        ({"tools": [tool(parameters={"type": "object"})]}, "object schema missing properties"),
        (
            {
                "tools": [
                    tool(parameters={"type": "object", "properties": {"x": {"type": "array"}}})
                ]
            },
            "array schema missing items",
        ),
        (
            {"tools": [tool(parameters={"type": "object", "properties": {"x": {"type": "y"}}})]},
            "the parameters of note",
        ),
        ({"tool_choice": "auto"}, "only allowed where there are tools"),
        ({"tools": [TOOL], "tool_choice": "any"}, "['tool_choice']"),
        (
            {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "x"}}},
            "tool_choice names 'x'",
        ),
    ],
)
def test_a_request_that_breaks_a_rule_is_refused(changes: dict[str, Any], words: str) -> None:
    assert words in broken(**{"messages": [USER]} | changes)


CALLED = [USER, assistant(call()), returned()]
BROKEN = [USER, assistant(call(function={"name": "x", "arguments": "{"})), returned(), said()]
NULL = [USER, assistant(call(function={"name": "x", "arguments": "null"})), returned(), said()]
DASHED = assistant(call("not-nine!"))


@pytest.mark.parametrize(
    ("url", "model", "messages", "words"),
    [
        ("https://api.mistral.ai/v1", "m", CALLED, "but must be a-z, A-Z, 0-9, with a length of 9"),
        (
            "https://api.mistral.ai/v1",
            "m",
            [USER, said(), SYSTEM, USER],
            "Unexpected role 'system'",
        ),
        ("https://api.mistral.ai/v1", "m", [USER, said()], "Expected last role User or Tool"),
        (
            "https://api.mistral.ai/v1",
            "m",
            [USER, assistant(call(NINE)), returned(NINE), USER],
            "Unexpected role 'user' after role 'tool'",
        ),
        ("https://api.deepseek.com", "m", CALLED, "reasoning_content is missing"),
        ("https://api.moonshot.ai/v1", "kimi", BROKEN, "no JSON object"),
        ("https://generativelanguage.googleapis.com/", "m", CALLED, "missing a thought_signature"),
        ("https://api.anthropic.com/v1", "m", CALLED + CALLED, "ids must be unique"),
        ("https://api.anthropic.com/v1", "m", [USER, said(" "), USER], "non-whitespace text"),
        ("https://api.anthropic.com/v1", "m", [USER, DASHED, returned("not-nine!")], "pattern"),
        ("http://localhost:11434/v1", "m", BROKEN, "no JSON object"),
        ("http://localhost:11434/v1", "m", NULL, "no JSON object"),
        ("http://lab/v1", "Qwen/Qwen3.6-27B", [USER, SYSTEM], "must be at the beginning"),
        ("http://lab/v1", "Qwen/Qwen3.6-27B", [SYSTEM, said()], "No user query found"),
        ("http://lab/v1", "Qwen/Qwen3.6-27B", NULL, "Can only get item pairs"),
        ("http://lab/v1", "gemma-3-27b", [SYSTEM, USER, USER], "roles must alternate"),
        ("http://lab/v1", "gemma-3-27b", [SYSTEM, said(), USER], "roles must alternate"),
        ("http://lab/v1", "mistralai/Mistral-Nemo", [USER, USER], "roles must alternate"),
        ("http://lab/v1", "mistralai/Mistral-Nemo", CALLED, "with length 9"),
        ("http://lab/v1", "meta-llama/Llama-3.3", BROKEN, "Expecting property name"),
    ],
)
def test_a_vendor_refuses_what_others_take(
    url: str, model: str, messages: list[Any], words: str
) -> None:
    assert not broken(messages, "https://api.openai.com/v1")
    assert words in broken(messages, url, model)


def test_a_vendor_takes_what_it_wants_back() -> None:
    thought = [USER, assistant(call(), reasoning_content=""), returned()]
    assert broken(thought)
    assert not broken(thought, "https://api.deepseek.com")
    assert "Extra inputs" not in broken(thought, "https://api.openai.com/v1")
    signed = call(extra_content={"google": {"thought_signature": "x"}})
    assert not broken(
        [USER, assistant(signed), returned()], "https://generativelanguage.googleapis.com/"
    )
    nine = [SYSTEM, USER, assistant(call(NINE)), returned(NINE), said(), USER]
    assert not broken(nine, "https://api.mistral.ai/v1")
    assert not broken(nine, "http://lab/v1", "mistralai/Mistral-Nemo")
    assert not broken(nine, "http://lab/v1", "gemma-3-27b")


def test_models_that_think_are_not_made_to_call() -> None:
    forced: Any = {"tools": [TOOL], "tool_choice": "required"}
    assert not broken([USER], "https://api.openai.com/v1", **forced)
    assert "tool_choice" in broken([USER], "https://api.deepseek.com", **forced)
    options: Any = {"stream_options": {"include_usage": True}}
    assert "stream_options" in broken([USER], "https://api.mistral.ai/v1", **options)


# -- the fake server asks them ---------------------------------------------------------------------


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(strict=False) as server:
        yield server


@pytest.fixture
def client(server: FakeOpenAI, anywhere: openai.OpenAI) -> openai.OpenAI:
    return anywhere.with_options(base_url=server.base_url)


def test_what_a_judge_refuses_the_server_refuses(server: FakeOpenAI) -> None:
    code, answer = post(server, {"model": "fake-model", "messages": [USER, returned()]})
    assert code == 400
    assert answer["error"]["type"] == "invalid_request_error"
    assert "OpenAI: messages[1] answers no call" in answer["error"]["message"]
    [(body, message)] = server.refused
    assert body["messages"] == [USER, returned()]
    assert message == answer["error"]["message"]
    assert server.requests == []


def test_a_request_that_was_refused_fails_the_test_that_made_it() -> None:
    server = FakeOpenAI().start()
    post(server, {"model": "fake-model", "messages": [USER, returned()]})
    with pytest.raises(AssertionError, match="answers no call"):
        server.stop()


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"temperature": NaN}', b"\xff"])
def test_what_is_no_json_object_is_refused(server: FakeOpenAI, raw: bytes) -> None:
    code, answer = post(server, raw)
    assert code == 400
    assert "could not parse the JSON body" in answer["error"]["message"]
    assert server.refused[0][0] == raw


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
