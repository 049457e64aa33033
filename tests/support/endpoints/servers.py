"""The servers there are: what each refuses, in its own words, with who reported it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from tests.support.endpoints import Refusal, Rule, Server
from tests.support.judges import (
    anthropics_door,
    arguments_are_objects,
    mistral,
    no_forced_call,
    reasoning_is_back,
    signatures_are_back,
    template,
)

Body = dict[str, Any]


# -- the forms of refusals -------------------------------------------------------------------------


def plain(words: str) -> Refusal:
    """As OpenAI has it."""
    error = {"message": words, "type": "invalid_request_error", "param": None, "code": None}
    return 400, {"error": error}


def vllm(words: str) -> Refusal:
    return 400, {"error": {"message": words, "type": "BadRequestError", "param": None, "code": 400}}


def old_vllm(words: str) -> Refusal:
    """Without "error" around it."""
    error = {"object": "error", "message": words, "type": "BadRequestError", "code": 400}
    return 400, error


def llama_cpp(words: str) -> Refusal:
    """A 500 that no retry mends."""
    return 500, {"error": {"code": 500, "message": words, "type": "server_error"}}


def mlx(words: str) -> Refusal:
    """A 404 that is about no model; `error` is a string."""
    return 404, {"error": words}


def gemini(words: str) -> Refusal:
    """A list."""
    return 400, [{"error": {"code": 400, "message": words, "status": "INVALID_ARGUMENT"}}]


def siliconflow(words: str) -> Refusal:
    return 400, {"code": 20015, "message": words, "data": None}


def openrouter(words: str) -> Refusal:
    """The words are in a string of JSON, in the metadata."""
    raw = json.dumps({"error": {"message": words, "type": "invalid_request_error"}})
    metadata = {"raw": raw, "provider_name": "DeepSeek"}
    return 400, {"error": {"message": "Provider returned error", "code": 400, "metadata": metadata}}


def mistrals(words: str) -> Refusal:
    """Its own codes; what it calls extra comes as a 422 whose `message` is an object."""
    if "Extra inputs" in words:
        place, _, said = words.partition(": ")
        detail = [{"type": "extra_forbidden", "loc": place.split("."), "msg": said, "input": {}}]
        error = {"object": "error", "message": {"detail": detail}, "type": "invalid_request_error"}
        return 422, error | {"param": None, "code": None}
    code = "3230" if "role" in words else "3280"
    kind = "invalid_request_message_order" if "role" in words else "invalid_function_call"
    return 400, {"object": "error", "message": words, "type": kind, "param": None, "code": code}


def fastapi(words: str) -> Refusal:
    """A validation error as FastAPI has it, with nothing but `detail`."""
    place, _, said = words.partition(": ")
    detail = [{"type": "extra_forbidden", "loc": place.split("."), "msg": said, "input": {}}]
    return 422, {"detail": detail}


# -- rules in the servers' own words ---------------------------------------------------------------


def said_as(words: str, rule: Rule = arguments_are_objects) -> Rule:
    def broken(body: Body) -> Iterator[str]:
        return (words for _ in rule(body))

    return broken


def no_stream_options(body: Body) -> Iterator[str]:
    if "stream_options" in body:
        yield "body.stream_options: Extra inputs are not permitted"


def no_user_after_tool(body: Body) -> Iterator[str]:
    roles = [message["role"] for message in body["messages"]]
    if ("tool", "user") in pairwise(roles):
        yield "Unexpected role 'user' after role 'tool'"


def nine_letters(body: Body) -> Iterator[str]:
    for message in body["messages"]:
        for call in message.get("tool_calls", ()):
            id = call["id"]
            if not (len(id) == 9 and id.isalnum()):
                yield f"Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9."


BROKEN = "Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] parse error"
BROKEN += " at line 1, column 2: syntax error while parsing object key - unexpected end of input"
NOT_BACK = "The `reasoning_content` in the thinking mode must be passed back to the API."
UNSIGNED = "Function call is missing a thought_signature in functionCall parts. This is required"
UNSIGNED += " for tools to work correctly, and missing thought_signature may lead to degraded model"
UNSIGNED += " performance. Additional data, function call `default_api:core_memory_append`,"
UNSIGNED += " position 2."
UNSIGNED_TOO = "Unable to submit request because function call `core_memory_append` in the 5."
UNSIGNED_TOO += " content block is missing a `thought_signature`."
FORCED = "<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support"
FORCED += " being set to required or object in thinking mode"

OPENAI = Server("openai", "its API reference", (), plain, "https://api.openai.com/v1", "gpt-5-mini")
OLLAMA = Server(
    "ollama",
    "ollama FromCompletionToolCall",
    (said_as("invalid tool call arguments"),),
    plain,
    "http://localhost:11434/v1",
    "llama3.2",
)
MISTRAL = Server(
    "mistral",
    "opencode 1680, langchain 24668, avante 2695, llxprt 114, crush 1590",
    (mistral.broken_rules, arguments_are_objects),
    mistrals,
    "https://api.mistral.ai/v1",
    "mistral-large-latest",
    ids="Abc123{}",
)
DEEPSEEK = Server(
    "deepseek",
    "continue 10193, litellm 37470",
    (said_as(NOT_BACK, reasoning_is_back), no_forced_call, arguments_are_objects),
    plain,
    "https://api.deepseek.com",
    "deepseek-v4-flash",
    ("reasoning_content",),
    thinks=True,
)
KIMI = Server(
    "kimi",
    "continue 11711, mastra 12592",
    (reasoning_is_back, arguments_are_objects),
    plain,
    "https://api.moonshot.ai/v1",
    "kimi-k2.5",
    ("reasoning_content",),
    thinks=True,
    ids="functions.core_memory_append:{}",
)
GEMINI = Server(
    "gemini",
    "openclaude 67, securo 884",
    (said_as(UNSIGNED, signatures_are_back), arguments_are_objects),
    gemini,
    "https://generativelanguage.googleapis.com/v1beta/openai",
    "gemini-3-pro-preview",
    ("extra_content",),
    signs=True,
    ids="function-call-1234567890123456{}",
)
ANTHROPIC = Server(
    "anthropic",
    "claux 40, cua 524, qwen-code 8160",
    (anthropics_door, arguments_are_objects),
    plain,
    "https://api.anthropic.com/v1",
    "claude-sonnet-4-6",
    ids="toolu_01A09q90qw90lq917835{}",
)
QWEN = Server(
    "qwen at vllm",
    "vllm 41114, litellm 26879",
    (template("qwen"),),
    vllm,
    "http://gpu:8000/v1",
    "Qwen/Qwen3.6-27B",
    ids="chatcmpl-tool-0123456789abcdef0123456789abc{}",
)
GEMMA = Server(
    "gemma at vllm",
    "vllm 6862",
    (template("gemma"),),
    vllm,
    "http://gpu:8001/v1",
    "google/gemma-3-27b-it",
)
NEMO = Server(
    "mistral nemo at vllm",
    "hermes-agent 20154, mistral-vibe 578, crush 279",
    (template("mistral"), no_user_after_tool),
    vllm,
    "http://gpu:8002/v1",
    "mistralai/Mistral-Nemo-Instruct-2407",
)
LLAMA = Server(
    "llama at vllm",
    "vllm 43995, 48922",
    (template("llama"),),
    vllm,
    "http://gpu:8003/v1",
    "meta-llama/Llama-3.3-70B-Instruct",
)
KNOWN = [
    OPENAI, OLLAMA, MISTRAL, DEEPSEEK, KIMI, GEMINI, ANTHROPIC, QWEN, GEMMA, NEMO, LLAMA,
]  # fmt: skip

SOMEWHERE = [
    Server("some vllm", "vllm 43995, 48922", (template("llama"),), vllm),
    Server("some older vllm", "vllm 43995, ogx 4534", (template("llama"),), old_vllm),
    Server("some llama.cpp", "llama.cpp 25510", (said_as(BROKEN),), llama_cpp),
    Server("some ollama", "FromCompletionToolCall", (said_as("invalid tool call arguments"),)),
    Server("some mistral", "opencode 1680, magentic 276", (nine_letters,), mistrals),
    Server("some devstral", "hermes-agent 20154, pi-neuralwatt 12", (no_user_after_tool,), vllm),
    Server("some nemo", "crush 279, mlx-lm 1375", (template("mistral"),), vllm),
    Server("some nemo at mlx", "mlx-lm 1375", (template("mistral"),), mlx),
    Server("some gemma", "vllm 6862", (template("gemma"),), vllm),
    Server("some qwen", "vllm 41114, code-buddy 75", (template("qwen"),), vllm),
    Server(
        "some deepseek",
        "continue 10193, kilocode 10986",
        (said_as(NOT_BACK, reasoning_is_back), no_forced_call),
        plain,
        also_allowed=("reasoning_content",),
        thinks=True,
    ),
    Server(
        "deepseek through openrouter",
        "open-interpreter 215",
        (said_as(NOT_BACK, reasoning_is_back),),
        openrouter,
        also_allowed=("reasoning_content", "reasoning_details"),
        thinks=True,
    ),
    Server(
        "kimi at siliconflow",
        "QwenPaw 433, continue 11711",
        (reasoning_is_back,),
        siliconflow,
        also_allowed=("reasoning_content",),
        thinks=True,
    ),
    Server(
        "some gemini",
        "securo 884, 5ire 405",
        (said_as(UNSIGNED, signatures_are_back),),
        gemini,
        also_allowed=("extra_content",),
        signs=True,
    ),
    Server(
        "gemini at vertex",
        "gemini-cli-openai 156",
        (said_as(UNSIGNED_TOO, signatures_are_back),),
        plain,
        also_allowed=("extra_content",),
        signs=True,
    ),
    Server("some door to anthropic", "claux 40, cua 524", (anthropics_door,), plain),
    Server("no stream options", "avante 2347, llxprt 114", (no_stream_options,), mistrals),
    Server("no stream options either", "openclaude 739", (no_stream_options,), fastapi),
    Server("thinking qwen", "eino 994", (said_as(FORCED, no_forced_call),), plain),
    Server("some openai", "its API reference"),
]
ALL = KNOWN + SOMEWHERE
