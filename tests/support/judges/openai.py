"""OpenAI's rules for a chat-completions request.

The types are those of its own client, whose TypedDicts are generated from the API's reference, as
a JSON schema in which nothing else is allowed. What the reference says in words only (how long an
id may be, which names there are, which message follows which) is below.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cache
from typing import Any

import jsonschema_rs
from openai.types.chat.completion_create_params import (
    CompletionCreateParamsNonStreaming,
    CompletionCreateParamsStreaming,
)
from pydantic import TypeAdapter

Body = dict[str, Any]

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
LONGEST_ID = 40
MOST_TOOLS = 128
MESSAGE = "ChatCompletion{}MessageParam"
NO_PARAMETERS = {"type": "object", "properties": {}}
ROLES = ("developer", "system", "user", "assistant", "tool", "function")
RANGES = {"temperature": (0, 2), "top_p": (0, 1), "max_tokens": (1, None), "n": (1, 128)}


def broken_rules(body: Any, also_allowed: Collection[str] = ()) -> Iterator[str]:
    """Each rule that a request breaks, in a sentence.

    `also_allowed` names parameters, fields of messages and fields of calls that the endpoint at
    hand has beyond OpenAI's ("top_k", "reasoning_content", "extra_content").
    """
    broken = list(_types(without(body, also_allowed)))
    yield from broken
    if not broken:
        yield from _tools(body)
        yield from _calls(body["messages"])
        yield from _conversation(body["messages"])


def without(body: Any, names: Collection[str]) -> Any:
    """A request without some fields, wherever they stand."""
    if not names:
        return body
    if isinstance(body, dict):
        return {name: without(value, names) for name, value in body.items() if name not in names}
    return [without(each, names) for each in body] if isinstance(body, list) else body


# -- types -----------------------------------------------------------------------------------------


@cache
def _validators(streams: bool) -> tuple[Any, dict[str, Any]]:
    """Of a request apart from its messages, and of a message by role."""
    kind: Any = CompletionCreateParamsStreaming if streams else CompletionCreateParamsNonStreaming
    schema = TypeAdapter(kind).json_schema()
    for closed in (schema, *schema["$defs"].values()):
        if "properties" in closed:
            closed["additionalProperties"] = False
    shared = {"$defs": schema["$defs"]}
    for number, (low, high) in RANGES.items():
        bounds = {"minimum": low} | ({"maximum": high} if high else {})
        schema["properties"][number] = {"allOf": [schema["properties"][number], bounds]}
    schema["properties"]["messages"] = {"type": "array", "minItems": 1}
    schema["properties"]["tools"] |= {"minItems": 1, "maxItems": MOST_TOOLS}
    roles = {
        role: jsonschema_rs.validator_for(
            {**shared, "$ref": f"#/$defs/{MESSAGE.format(role.title())}"}
        )
        for role in ROLES
    }
    return jsonschema_rs.validator_for(schema), roles


def _types(body: Any) -> Iterator[str]:
    streams = isinstance(body, dict) and bool(body.get("stream"))
    request, roles = _validators(streams)
    for error in request.iter_errors(body):
        yield _said("the request", error)
    messages = body.get("messages") if isinstance(body, dict) else None
    for place, message in enumerate(messages if isinstance(messages, list) else []):
        role = message.get("role") if isinstance(message, dict) else None
        if role not in roles:
            yield f"messages[{place}] has no role that there is: {role!r}"
            continue
        for error in roles[role].iter_errors(message):
            yield _said(f"messages[{place}]", error)


def _said(where: str, error: Any) -> str:
    path = "".join(f"[{step!r}]" for step in error.instance_path)
    words = error.message if len(error.message) < 400 else f"…{error.message[-200:]}"
    return f"{where}{path}: {words}"


# -- what the reference says in words --------------------------------------------------------------


def _tools(body: Body) -> Iterator[str]:
    """A request's parameters agree with each other, and tools have names and schemas."""
    if body.get("stream_options") is not None and not body.get("stream"):
        yield "stream_options is only allowed where stream is set"
    names = [_named(tool) for tool in body.get("tools", ())]
    for option in ("tool_choice", "parallel_tool_calls"):
        if option in body and not names:
            yield f"{option} is only allowed where there are tools"
    for name in names:
        if not NAME.fullmatch(name):
            yield f"{name!r} may not be the name of a tool"
        if names.count(name) > 1:
            yield f"two tools are called {name!r}"
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and "function" in choice and _named(choice) not in names:
        yield f"tool_choice names {_named(choice)!r}, which is no tool"
    for tool in body.get("tools", ()):
        description = tool.get("function", {}).get("description") or ""
        if len(description) > 1024:
            yield f"the description of {_named(tool)} has more than 1,024 characters"
        parameters = tool.get("function", {}).get("parameters", NO_PARAMETERS)
        if parameters.get("type") != "object":
            yield f"the parameters of {_named(tool)} are no schema of an object"
        elif fault := _schema_fault(parameters, top=True):
            yield f"the parameters of {_named(tool)}: {fault}"


def _named(tool: Body) -> str:
    return str((tool.get("function") or tool.get("custom") or {}).get("name", ""))


def _schema_fault(schema: Any, *, top: bool = False) -> str:
    """What OpenAI misses in a schema; arrays must say of what, objects which properties."""
    try:
        jsonschema_rs.meta.validate(schema)
    except jsonschema_rs.ValidationError as error:
        return str(error.message)
    if isinstance(schema, bool):
        return ""
    if schema.get("type") == "array" and "items" not in schema:
        return "array schema missing items"
    if top and "properties" not in schema:
        return "object schema missing properties"
    parts = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    parts += [schema["items"]] if "items" in schema else []
    return next(filter(None, map(_schema_fault, parts)), "")


def _calls(messages: list[Body]) -> Iterator[str]:
    """Ids, names and contents have the form that the API takes."""
    for place, message in enumerate(messages):
        for call in message.get("tool_calls", ()):
            if not 0 < len(call["id"]) <= LONGEST_ID:
                yield f"messages[{place}] has a call with an id of {len(call['id'])} characters"
            if not NAME.fullmatch(_named(call)):
                yield f"messages[{place}] calls {_named(call)!r}, which cannot be a tool's name"
        if message.get("tool_calls") == []:
            yield f"messages[{place}] has an empty list of calls"
        silent = message["role"] == "assistant" and message.get("content") is None
        if silent and not message.keys() & {"tool_calls", "function_call"}:
            yield f"messages[{place}] has neither content nor calls"
        if message.get("content") == []:
            yield f"messages[{place}] has an empty list as its content"


def _conversation(messages: list[Body]) -> Iterator[str]:
    """Each call is answered, once, before anything else is said; nothing else is answered."""
    waiting: list[str] = []
    for place, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                yield f"messages[{place}] answers no call, or one that is answered already"
            else:
                waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            yield f"messages[{place}] comes before the calls {waiting} are answered"
        waiting = [call["id"] for call in message.get("tool_calls", ())]
        if len(set(waiting)) < len(waiting):
            yield f"messages[{place}] has two calls with one id"
    if waiting:
        yield f"the calls {waiting} are not answered"
