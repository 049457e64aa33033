"""The ways in which servers send tool calls, with who reported each.

Every one appends "Likes pie" to the block `human`, and some "Likes tea" as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.support.endpoints import Stream
from tests.support.endpoints.answers import Way, deltas, words

APPEND = "core_memory_append"
PIE = {"label": "human", "content": "Likes pie"}
TEA = {"label": "human", "content": "Likes tea"}
JSON, OTHER = json.dumps(PIE), json.dumps(TEA)
ONE, BOTH = ("Likes pie",), ("Likes pie", "Likes tea")


def piece(arguments: Any = JSON, name: str | None = APPEND, **fields: Any) -> dict[str, Any]:
    """A piece of a call; fields that are None are left out."""
    function = {"name": name, "arguments": arguments}
    said = {key: value for key, value in function.items() if value is not None}
    return {"function": said} | {key: value for key, value in fields.items() if value is not None}


def called(*pieces: dict[str, Any], finish: str | None = "tool_calls") -> Stream:
    """Calls, each piece in a chunk of its own."""
    return deltas(*({"tool_calls": [each]} for each in pieces), finish=finish)


def at_once(*pieces: dict[str, Any]) -> Stream:
    return deltas({"tool_calls": list(pieces)}, finish="tool_calls")


def two_calls() -> Iterator[Way]:
    first, second = piece(id="a", index=0), piece(OTHER, id="b", index=0)
    cut = [
        piece("", id="a", index=0),
        piece("", id="b", index=1),
        piece(JSON[:9], None, index=0),
        piece(OTHER[:9], None, index=1),
        piece(JSON[9:], None, index=0),
        piece(OTHER[9:], None, index=1),
    ]
    unnumbered = [
        piece("", id="a"),
        piece(JSON[:9], None),
        piece(JSON[9:], None),
        piece("", id="b"),
        piece(OTHER, None),
    ]
    zeros = [
        piece("", id="a", index=0),
        piece(JSON, None, index=0),
        piece("", id="b", index=0),
        piece(OTHER, None, index=0),
    ]
    from_one = [piece(id="a", index=1), piece(OTHER, id="b", index=2)]
    gaps = [piece(id="a", index=1), piece(OTHER, id="b", index=4)]
    for name, evidence, stream in [
        ("all with index 0", "ollama 15457, omnigent 28, gcli2api 406", called(first, second)),
        ("all with index 0 at once", "ollama 15457", at_once(first, second)),
        ("all with index 0 in pieces", "hermes-agent 62937", called(*zeros)),
        ("without an index", "ollama 7881", called(piece(id="a"), piece(OTHER, id="b"))),
        ("without an index in pieces", "openai-python 2806", called(*unnumbered)),
        ("without index or id", "hermes-agent 75528", called(piece(), piece(OTHER))),
        ("in turns", "OpenAI's reference", called(*cut)),
        ("from index 1 on", "CLIProxyAPI 5229, litellm 5231", called(*from_one)),
        ("with gaps", "ai 18333, Netcatty 3434", called(*gaps)),
    ]:
        yield Way(f"two calls {name}", evidence, stream, "", remembers=BOTH)


def one_call() -> Iterator[Way]:
    named_twice = [piece(JSON[:9], id="a", index=0), piece(JSON[9:], id="a", index=0)]
    blank = [piece("", id="a", index=0), piece(JSON, "", id="", index=0)]
    changing = [piece("", id="a", index=0), piece(JSON[:9], None, id="b", index=0)]
    changing += [piece(JSON[9:], None, id="b", index=0)]
    in_pieces = [piece("", "core_memory", id="a", index=0), piece("", "_append", index=0)]
    in_pieces += [piece(JSON, None, index=0)]
    nulls: list[dict[str, Any]] = [
        {"index": 0, "id": "a", "function": {"name": APPEND, "arguments": None}},
        {"index": 0, "id": None, "type": None, "function": {"name": None, "arguments": JSON}},
    ]
    for name, evidence, stream in [
        ("without an id", "litellm 33223, Netcatty 1007", called(piece(index=0))),
        ("with an empty id", "litellm 33223", called(piece(index=0, id=""))),
        ("with empty ids after the first", "symfony/ai 2220, spring-ai 4790", called(*blank)),
        ("with an id that changes", "poolsideai/pool 9", called(*changing)),
        ("whole in one chunk", "ollama 7881, dust 4226", called(piece(id="a", index=0))),
        ("with an object", "llama.cpp 20198", called(piece(PIE, id="a", index=0))),
        ("with its name in pieces", "continue 5849: Gemini", called(*in_pieces)),
        ("with its name in every piece", "hermes-agent 8259", called(*named_twice)),
        ("with nulls", "vllm 18412", called(*nulls)),
        ("beside stop", "litellm 35663", called(piece(id="a", index=0), finish="stop")),
        ("without a reason", "ai 19165", called(piece(id="a", index=0), finish=None)),
    ]:
        yield Way(f"a call {name}", evidence, stream, "", remembers=ONE)


def as_text() -> Iterator[Way]:
    named = json.dumps({"name": APPEND, "arguments": PIE})
    told = json.dumps({"name": APPEND, "parameters": PIE})
    other = json.dumps({"name": APPEND, "arguments": TEA})
    typed = json.dumps({"type": "function", "name": APPEND, "parameters": PIE})
    for name, evidence, text in [
        ("in tags", "llama-cpp-python 1784, ollama 17274", f"<tool_call>\n{named}\n</tool_call>"),
        ("in a list after a mark", "mlx-lm 1643", f"[TOOL_CALLS][{named}]"),
        ("by name after a mark", "Rapid-MLX 1071", f"[TOOL_CALLS]{APPEND}[ARGS]{JSON}"),
        ("after python_tag", "Rapid-MLX 703, llama-models 266", f"<|python_tag|>{told}"),
        ("after python_tag with its type", "llama-models 266", f"<|python_tag|>{typed}"),
        ("alone", "ollama-vscode 20", named),
        ("alone with parameters", "ollama 13519, omlx 1153", told),
        ("in a fence", "ollama 13519", f"```json\n{told}\n```"),
    ]:
        pieces = [text[place : place + 4] for place in range(0, len(text), 4)]
        yield Way(f"a call as text {name}", evidence, words(text), "", remembers=ONE)
        yield Way(f"a call as text {name} cut", evidence, words(*pieces), "", remembers=ONE)
    thought = f"<think>I should greet.</think>\n<tool_call>\n{named}\n</tool_call>"
    yield Way(
        "a call as text after a thought", "unsloth 5704", words(thought), "", "I should greet.", ONE
    )
    twice = "\n".join(f"<tool_call>\n{each}\n</tool_call>" for each in (named, other))
    yield Way("two calls as text", "llama-cpp-python 1784", words(twice), "", remembers=BOTH)
    bob = json.dumps({"name": "Bob", "arguments": "none that I know"})
    yield Way("JSON that calls nothing", "Rapid-MLX 703", words(bob), bob)


WAYS = [*two_calls(), *one_call(), *as_text()]
