"""Tool calls that a model wrote as text, because its server has no parser for them.

They count as calls where every name is a tool on offer; anything else stays text. The forms are
those of the models' own chat templates: Hermes and Qwen, Qwen-Coder, Mistral, Llama.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple


class Written(NamedTuple):
    """A call found in a text: between `start` and `end`."""

    name: str
    arguments: str
    start: int
    end: int


LONGEST = 100_000  # characters of a text that is searched
MOST = 32  # calls in one text
TAGGED = re.compile(r"<tool_call>|<\|python_tag\|>|\[TOOL_CALLS\]")
FUNCTION = re.compile(r"<function=([\w.-]+)>")
PARAMETER = re.compile(r"<parameter=([\w.-]+)>\n?(.*?)\n?</parameter>", re.DOTALL)
ENDING = re.compile(r"\s*(</function>|</tool_call>|<\|eom_id\|>|<\|eot_id\|>|;(?=\s*\{))")
NAMED = re.compile(r"\s*([\w.-]+)(?:\[CALL_ID\]\w+)?(?:\[ARGS\])?\s*(?=\{)")
FENCED = re.compile(
    r"\A\s*(?:```(?:json|tool_call|tool_code)?\s*\n)?(.*?)(?:\n```)?\s*\Z", re.DOTALL
)
FENCE = re.compile(r"^```", re.MULTILINE)
_decoder = json.JSONDecoder()


def written_calls(content: str, names: Collection[str]) -> tuple[str, list[tuple[str, str]]]:
    """The text without the calls in it, and each call's name and arguments (JSON)."""
    if not names or len(content) > LONGEST:
        return content, []
    calls = list(_tagged(content)) or list(_alone(content))
    if not calls or len(calls) > MOST or any(call.name not in names for call in calls):
        return content, []
    left, at = [], 0
    for call in calls:
        left.append(content[at : call.start])
        at = call.end
    left.append(content[at:])
    return "".join(left).strip(), [(call.name, call.arguments) for call in calls]


def _tagged(content: str) -> Iterator[Written]:
    """Calls behind one of the tags; not within a fenced block, where a model shows an example."""
    at = 0
    for _ in range(MOST):
        opening = TAGGED.search(content, at) or FUNCTION.search(content, at)
        if opening is None:
            return
        if len(FENCE.findall(content, 0, opening.start())) % 2:
            at = opening.end()
            continue
        start, at = opening.start(), opening.end()
        if FUNCTION.match(opening.group()):
            at = start
        calls, at = _calls_at(content, at)
        if not calls:
            return
        for place, (name, arguments) in enumerate(calls):
            yield Written(name, arguments, start if place == 0 else at, at)


def _calls_at(content: str, at: int) -> tuple[list[tuple[str, str]], int]:
    """The calls that stand at a place, and where they end."""
    calls: list[tuple[str, str]] = []
    while True:
        one, at = _call_at(content, at)
        if not one:
            return calls, at
        calls += one
        while ending := ENDING.match(content, at):
            at = ending.end()


def _call_at(content: str, at: int) -> tuple[list[tuple[str, str]], int]:
    blank = re.compile(r"\s*").match(content, at)
    at = blank.end() if blank else at
    if function := FUNCTION.match(content, at):
        return _function_at(content, function)
    if named := NAMED.match(content, at):
        value, end = _json_at(content, named.end())
        if isinstance(value, dict):
            return [(named.group(1), json.dumps(value, ensure_ascii=False))], end
    value, end = _json_at(content, at)
    calls = _as_calls(value)
    return (calls, end) if calls else ([], at)


def _function_at(content: str, function: re.Match[str]) -> tuple[list[tuple[str, str]], int]:
    """`<function=name>` with JSON, or with a tag for each parameter."""
    at = function.end()
    value, end = _json_at(content, at)
    if isinstance(value, dict):
        return [(function.group(1), json.dumps(value, ensure_ascii=False))], end
    close = content.find("</function>", at)
    close = len(content) if close < 0 else close
    arguments = {name: _value(text) for name, text in PARAMETER.findall(content[at:close])}
    return [(function.group(1), json.dumps(arguments, ensure_ascii=False))], close


def _value(text: str) -> Any:
    """A parameter as JSON where it is a list, an object, a truth or a number; else as text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(value, str) or value is None else value


def _alone(content: str) -> Iterator[Written]:
    """Calls that are all there is: a JSON object or a list of them, in a fence or not."""
    fenced = FENCED.match(content)
    text = fenced.group(1).strip() if fenced else ""
    if not text.startswith(("{", "[")):
        return
    value, end = _json_at(text, 0)
    if text[end:].strip():
        return
    for place, (name, arguments) in enumerate(_as_calls(value)):
        yield Written(name, arguments, 0 if place == 0 else len(content), len(content))


def _json_at(content: str, at: int) -> tuple[Any, int]:
    blank = len(content[at:]) - len(content[at:].lstrip())
    try:
        return _decoder.raw_decode(content, at + blank)
    except (ValueError, RecursionError):
        return None, at


def _as_calls(value: Any) -> list[tuple[str, str]]:
    """A JSON value as calls, if it is one or a list of them; [] if it is anything else."""
    values = value if isinstance(value, list) else [value]
    calls = [_as_call(each) for each in values]
    return [call for call in calls if call] if all(calls) else []


def _as_call(value: Any) -> tuple[str, str] | None:
    if isinstance(value, dict) and isinstance(value.get("function"), dict):
        value = value["function"]
    if not isinstance(value, dict):
        return None
    name = value.get("name") or value.get("function") or value.get("tool")
    arguments = next(
        (value[key] for key in ("arguments", "parameters", "args") if key in value), None
    )
    if not isinstance(name, str):
        return None
    if isinstance(arguments, str):
        return name, arguments
    return (
        (name, json.dumps(arguments, ensure_ascii=False)) if isinstance(arguments, dict) else None
    )
