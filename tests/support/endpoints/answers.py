"""What servers send: each way in which an answer was seen, with who reported it, and what it means.

Every one says "Noted.", or appends "Likes pie" to the block `human`, or both.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from tests.support.endpoints import DONE, Stream, chunk, sent

NOTED = {"content": "Noted."}
USAGE = {"prompt_tokens": 900, "completion_tokens": 7, "total_tokens": 907}


THINKS = "WeKnora 2179, prompt-optimizer 348, vllm 13125, llama.cpp 11861"


class Way(NamedTuple):
    """An answer, and what has to come of it."""

    name: str
    evidence: str
    stream: Stream
    says: str = "Noted."
    reasons: str = ""
    remembers: tuple[str, ...] = ()
    fails: bool = False

    def __str__(self) -> str:
        return self.name.replace(" ", "_")


def deltas(*each: dict[str, Any], finish: str | None = "stop", **extras: Any) -> Stream:
    return Stream(each, finish, extras=extras)


def raw(data: bytes, pieces: int = 0) -> Stream:
    return Stream(raw=data, pieces=pieces)


def words(*pieces: str) -> Stream:
    return deltas(*({"content": piece} for piece in pieces))


def reasoning() -> Iterator[Way]:
    for field, evidence in {
        "reasoning_content": "DeepSeek's reference, continue 11711",
        "reasoning": "OpenRouter's guide to reasoning",
    }.items():
        thought = ({field: "I should "}, {field: "greet."})
        yield Way(field, evidence, deltas(*thought, NOTED), reasons="I should greet.")
    details = [{"type": "reasoning.text", "text": "I should greet.", "index": 0}]
    yield Way(
        "reasoning details",
        "OpenRouter's guide to reasoning",
        deltas({"reasoning_details": details}, NOTED),
        reasons="I should greet.",
    )
    yield Way(
        "reasoning and its details say the same",
        "OpenRouter's guide to reasoning",
        deltas({"reasoning": "I should greet.", "reasoning_details": details}, NOTED),
        reasons="I should greet.",
    )
    for name, pieces in {
        "think tags": ["<think>I should greet.</think>Noted."],
        "think tags across chunks": ["<th", "ink>I sh", "ould greet.</thi", "nk>\n\nNot", "ed."],
        "think tags letter by letter": list("<think>I should greet.</think>Noted."),
        "think tags after white space": ["\n<think>\nI should greet.\n", "</think>\n\n", "Noted."],
        "thinking tags": ["<thinking>I should greet.</thinking>", "Noted."],
        "an end of thought without its beginning": ["I should greet.\n</think>\n\n", "Noted."],
    }.items():
        yield Way(name, THINKS, words(*pieces), reasons="I should greet.")
    yield Way(
        "an empty thought",
        "Qwen 3's template when it is not to think",
        words("<think>\n\n</think>\n\nNoted."),
    )
    yield Way(
        "a thought that never ends",
        "lilbee 729; cut by its limit",
        replace(words("<think>I should ", "greet."), finish="length"),
        says="",
        reasons="I should greet.",
        fails=True,
    )
    thinking = [{"type": "thinking", "thinking": [{"type": "text", "text": "I should greet."}]}]
    yield Way(
        "parts of content",
        "litellm 16272, llm-mistral 39",
        deltas({"content": thinking}, {"content": [{"type": "text", "text": "Noted."}]}),
        reasons="I should greet.",
    )
    yield Way(
        "parts of content and then text",
        "litellm 16272, gptel 1035",
        deltas({"content": thinking}, {"content": "Noted."}),
        reasons="I should greet.",
    )


def ends() -> Iterator[Way]:
    said, end = chunk(NOTED), chunk({}, "stop")
    plain = sent([NOTED], "stop")
    only_delta = {"choices": [{"index": 0, "delta": None, "finish_reason": "stop"}]}
    for name, evidence, stream in [
        ("no reason but DONE", "ai 19165, planet 10281", deltas(NOTED, finish=None)),
        ("reasons that are empty", "ollama 4357", raw(whole(chunk(NOTED, ""), end))),
        ("usage missing", "servers without stream_options", deltas(NOTED)),
        ("usage beside the reason", "Gemini's door: routstr-core 543", deltas(NOTED, usage=USAGE)),
        ("usage of zero", "llama-cpp-python", deltas(NOTED, usage=dict.fromkeys(USAGE, 0))),
        ("usage of null", "DeepSeek, in each chunk", deltas(NOTED, usage=None)),
        ("usage in its own chunk", "OpenAI's reference", raw(whole(said, end, OWN))),
        ("usage without choices", "bare proxies", raw(whole(said, end, {"usage": USAGE}))),
        ("choices of null", "bare proxies", raw(whole({"choices": None}, said, end))),
        ("a filter's chunk first", "mentat 429", raw(whole({"choices": []}, said, end))),
        ("a delta of null", "bagofwords 742", raw(whole(said, only_delta))),
        ("comments", "langchain (Elixir) 568, dive 206", raw(WAITING + b":\n\n" + plain)),
        ("a comment of an empty line", "mistral-vibe 762: llama.cpp", raw(b":\n" + plain)),
        ("a comment after an id", "openai-python 2722, llmgateway 2334", raw(numbered(plain))),
        ("blank lines", "keep-alive of proxies", raw(b"\n\n\n\n" + plain + b"\n\n")),
        ("CRLF", "routstr-core 543", raw(plain.replace(b"\n", b"\r\n"))),
        ("CRLF in pieces of a byte", "TCP", raw(plain.replace(b"\n", b"\r\n"), 1)),
        ("a BOM", "the standard allows it", raw(b"\xef\xbb\xbf" + plain)),
        ("no space after data", "AIClient2API 695", raw(plain.replace(b"data: ", b"data:"))),
        ("names of events", "servers on sse-starlette", raw(plain.replace(b"da", b"event: m\nda"))),
        ("no DONE", "ik_llama.cpp 467, text-generation-inference 2221", raw(plain[: -len(DONE)])),
        ("no line at its end", "cut by proxies", raw(plain.rstrip(b"\n"))),
    ]:
        yield Way(name, evidence, stream)
    error = {"error": {"message": "Worker local total request limit reached", "code": 502}}
    yield Way(
        "an error inside a 200",
        "OmniRoute 8210, local-operator 223",
        raw(whole(said, error | {"choices": []})),
        says="",
        fails=True,
    )
    kept_alive = raw(b"data: : keepalive\n\n" + plain)
    yield Way("keep-alive as data", "opencode 50871, llm-gateway 2053", kept_alive)


OWN = {"choices": [], "usage": USAGE}
WAITING = b": OPENROUTER PROCESSING\n\n"


def numbered(data: bytes) -> bytes:
    """An id before each event, and a comment after the first."""
    return data.replace(b"data:", b"id: 1\ndata:").replace(b"\n\n", b"\n\n: ping\n\n", 1)


def whole(*chunks: dict[str, Any]) -> bytes:
    return b"".join(b"data: %s\n\n" % json.dumps(each).encode() for each in chunks) + DONE


WAYS = [*reasoning(), *ends()]
