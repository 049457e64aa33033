"""Strict judges of chat-completions requests: whom a request is for, and whose rules it must keep.

Every request that any test makes is judged (`conftest.py`, `fake_openai.py`). The rules are those
of OpenAI, whose wire it is; an endpoint of another vendor's adds its own, and at one that nobody
knows, arguments are objects, as most servers want them. Which endpoint that is,
is decided here and not by the product, so that the two cannot be wrong together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Any, NamedTuple

from tests.support.judges import mistral, openai, templates

Body = dict[str, Any]
LONGEST_REQUEST = 3000  # characters of it that a failure shows


class Vendor(NamedTuple):
    """Whose endpoint or model it is, what it knows beyond OpenAI's fields, and its own rules."""

    name: str
    known_by: str
    """A pattern of its address or of its models' names."""
    also_allowed: Collection[str] = ()
    rules: tuple[Callable[[Body], Iterator[str]], ...] = ()


def arguments_are_objects(body: Body) -> Iterator[str]:
    """Broken or other arguments are refused, for good: vllm 43995, llama.cpp 25510, ollama."""
    for place, message in enumerate(body["messages"]):
        for call in message.get("tool_calls") or ():
            try:
                templates.object_of(call)
            except ValueError as error:
                yield f"messages[{place}]: the arguments of a call are no JSON object: {error}"


def reasoning_is_back(body: Body) -> Iterator[str]:
    """DeepSeek's and Kimi's words are alike: continue 11711, kilocode 10986."""
    for place, message in enumerate(body["messages"]):
        if message.get("tool_calls") and "reasoning_content" not in message:
            yield f"reasoning_content is missing in assistant tool call message at index {place}"


def signatures_are_back(body: Body) -> Iterator[str]:
    """Gemini 3 wants one at the first call of each message: securo 884, hermes-agent 101536."""
    for message in body["messages"]:
        for call in message.get("tool_calls", ())[:1]:
            signed = call.get("extra_content", {}).get("google", {}).get("thought_signature")
            if not signed:
                yield "Function call is missing a thought_signature in functionCall parts."


def anthropics_door(body: Body) -> Iterator[str]:
    """What it cannot carry over into its own messages: qwen-code 8160, cua 524, claux 40."""
    seen: set[str] = set()
    for place, message in enumerate(body["messages"]):
        for call in message.get("tool_calls") or ():
            if call["id"] in seen:
                yield f"messages.{place}: `tool_use` ids must be unique"
            if not re.fullmatch("[a-zA-Z0-9_-]+", call["id"]):
                yield f"messages.{place}: String should match pattern '^[a-zA-Z0-9_-]+$'"
            seen.add(call["id"])
        content = message.get("content")
        if isinstance(content, str) and not content.strip() and not message.get("tool_calls"):
            yield f"messages.{place}: text content blocks must contain non-whitespace text"


def no_forced_call(body: Body) -> Iterator[str]:
    """Models that think choose for themselves: litellm 37470, eino 994."""
    if body.get("tool_choice", "auto") not in ("auto", "none"):
        yield "Thinking mode does not support this tool_choice"


def template(family: str) -> Callable[[Body], Iterator[str]]:
    return partial(templates.broken_rules, family=family)


THINKING = (arguments_are_objects, reasoning_is_back, no_forced_call)
VENDORS = (
    Vendor("openai", r"//api\.openai\.com"),
    Vendor("mistral", r"//api\.mistral\.ai", (), (mistral.broken_rules,)),
    Vendor("deepseek", r"//api\.deepseek\.com", ("reasoning_content",), THINKING),
    Vendor("kimi", r"//api\.moonshot\.(ai|cn)", ("reasoning_content",), THINKING),
    Vendor(
        "gemini",
        r"//generativelanguage\.googleapis\.com",
        ("extra_content",),
        (arguments_are_objects, signatures_are_back),
    ),
    Vendor("anthropic", r"//api\.anthropic\.com", (), (arguments_are_objects, anthropics_door)),
    Vendor("ollama", r":11434", (), (arguments_are_objects,)),
    Vendor("qwen", r"qwen-?3", ("reasoning_content",), (template("qwen"),)),
    Vendor("gemma", r"gemma", (), (template("gemma"),)),
    Vendor("mistral's open models", r"mistral|mixtral|nemo", (), (template("mistral"),)),
    Vendor("llama", r"llama-?3", (), (template("llama"),)),
)


def vendor_of(url: str, model: str) -> Vendor | None:
    """Whose rules hold at an address for a model; the address is looked at first."""
    places = (url, model.lower())
    return next((v for place in places for v in VENDORS if re.search(v.known_by, place)), None)


def broken_rules(url: str, body: Any, also_allowed: Collection[str] = ()) -> list[str]:
    """Each rule that a request to an address breaks, with the judge's name before it."""
    model = str(body.get("model", "")) if isinstance(body, dict) else ""
    vendor = vendor_of(url, model)
    allowed = {*also_allowed, *(vendor.also_allowed if vendor else ())}
    if broken := [f"OpenAI: {words}" for words in openai.broken_rules(body, allowed)]:
        return broken
    if vendor is None:
        return [f"many servers: {words}" for words in arguments_are_objects(body)]
    return [f"{vendor.name}: {words}" for rule in vendor.rules for words in rule(body)]


def verdict(words: str, body: Any) -> str:
    """What a test fails with: the broken rules and the request, whose middle may be left out."""
    request = repr(body)
    if len(request) > LONGEST_REQUEST:
        request = f"{request[: LONGEST_REQUEST // 2]} … {request[-LONGEST_REQUEST // 2 :]}"
    return f"{words}\nThe request was: {request}"
