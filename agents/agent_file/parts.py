"""One message of a file, taken apart: text, reasoning, tool calls, tool returns."""

from __future__ import annotations

import base64
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from agents.models import Image

from .call_ids import sendable_name
from .reading import Entry, in_words

LONGEST_ID = 200  # characters


@dataclass
class Returned:
    """What a tool returned to one call."""

    call_id: str
    text: str
    is_error: bool = False
    stdout: str = ""


@dataclass
class Said:
    """The content of a message; `left_out` counts what could not be imported."""

    text: str = ""
    reasoning: str = ""
    calls: list[dict[str, str]] = field(default_factory=list)
    returns: list[Returned] = field(default_factory=list)
    images: list[Image] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


def parts_of(message: Entry) -> Said:
    """Take a message apart."""
    said = Said()
    named = [call_of(call) for call in message.entries("tool_calls")]
    inside: list[dict[str, str]] = []
    content = message.given.get("content")
    if isinstance(content, str):
        said.text = content
    elif content is not None:
        texts: list[str] = []
        thoughts: list[str] = []
        for part in message.entries("content"):
            take(part, said, texts, thoughts, inside)
        said.text, said.reasoning = "\n".join(texts), "\n".join(thoughts)
    unique = {call["id"]: call for call in reversed(named + inside)}
    said.calls = [call for call in named + inside if unique[call["id"]] is call]
    said.left_out["twice"] += len({call["id"] for call in named}) < len(named)
    for call in said.calls:
        name = sendable_name(call["name"])
        said.left_out["names"] += name != call["name"]
        call["name"] = name
    if message.text("role") in ("tool", "function"):
        said.returns = returns_of(message, said)
    return said


def take(
    part: Entry, said: Said, texts: list[str], thoughts: list[str], calls: list[dict[str, str]]
) -> None:
    """Add a part of a message's content."""
    match part.get("type", str):
        case "text":
            texts.append(part.get("text", str))
        case "reasoning":
            thoughts.append(part.text("reasoning"))
        case "summarized_reasoning":
            thoughts += [each.text("text") for each in part.entries("summary")]
        case "tool_call":
            written = json.dumps(part.get("input", dict, {}), ensure_ascii=False)
            calls.append(as_call(part, "id", part.get("name", str), written))
        case "tool_return":
            failed = part.get("is_error", bool, False)
            text = as_text(part.given.get("content"))
            said.returns.append(Returned(key_of(part, "tool_call_id"), text, failed))
        case "image" if image := image_of(part.entry("source")):
            said.images.append(image)
        case "redacted_reasoning" | "omitted_reasoning":
            said.left_out["hidden"] += 1
        case _:
            said.left_out["pictures"] += 1


def image_of(source: Entry) -> Image | None:
    """An image whose bytes are in the file; None for what is elsewhere, or cannot be read."""
    try:
        return Image.read(base64.b64decode(source.text("data"), validate=True))
    except (ValidationError, ValueError):
        return None


def call_of(call: Entry) -> dict[str, str]:
    """A tool call; the arguments are a text, which may not be JSON."""
    function = call.entry("function")
    arguments = function.given.get("arguments")
    if arguments is not None and not isinstance(arguments, str | dict):
        words = gettext("should be a text, not %(type)s") % {"type": in_words(arguments)}
        raise function.wrong("arguments", words)
    return as_call(call, "id", function.get("name", str), as_text(arguments))


def as_call(entry: Entry, field: str, name: str, arguments: str) -> dict[str, str]:
    return {"id": key_of(entry, field), "name": name, "arguments": arguments}


def key_of(entry: Entry, field: str) -> str:
    """The id of a tool call."""
    key = entry.get(field, str)
    if not 0 < len(key) <= LONGEST_ID:
        words = gettext("should have 1 to %(most)s characters") % {"most": LONGEST_ID}
        raise entry.wrong(field, words)
    return key


def returns_of(message: Entry, said: Said) -> list[Returned]:
    """The returns in a tool's message: one, or several where calls were made side by side."""
    named = [each for each in message.entries("tool_returns") if each.has("tool_call_id")]
    returns = {each.call_id: each for each in said.returns}
    for each in named:
        key = key_of(each, "tool_call_id")
        text = as_text(each.given.get("func_response"))
        if len(named) == 1 and said.text:
            text = said.text
        status, stdout = each.text("status"), each.given.get("stdout")
        printed = "\n".join(each.texts("stdout")) if isinstance(stdout, list) else ""
        returns[key] = Returned(key, text, status == "error", printed)
    if not returns:
        returns[""] = Returned(key_of(message, "tool_call_id"), said.text, failed(said.text))
    return list(returns.values())


def failed(text: str) -> bool:
    """Whether a return says that the call failed, as Letta packs it."""
    return as_object(text).get("status") == "Failed"


def as_object(text: str) -> dict[str, Any]:
    """The JSON object that a text is; {} for any other text."""
    if not text.lstrip().startswith("{"):
        return {}
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def as_text(value: Any) -> str:
    """A text as it is, anything else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
