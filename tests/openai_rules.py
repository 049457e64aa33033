"""The rules by which OpenAI's API refuses a chat-completions request, and its words for it.

The words are the API's own, as its users quote them in public issues; where it has none
(two tools of one name, two calls of one id in a message) another provider's or ours stand in.
"""

import json
from collections.abc import Collection
from typing import Any

from tests.openai_fields import (
    PARAMETERS,
    Body,
    Refusal,
    filled,
    known,
    missing,
    object_in,
    one_of,
    parameter,
    string_in,
    typed,
    wrong_type,
)

ROLES = ("system", "assistant", "user", "function", "tool", "developer")
FIELDS = {role: {"role", "content", "name"} for role in ROLES}
FIELDS["tool"] |= {"tool_call_id"}
FIELDS["assistant"] |= {"refusal", "audio", "tool_calls", "function_call"}
NAME = "^[a-zA-Z0-9_-]+$"


def parse(raw: bytes) -> Body:
    """The request's body; refused when it is not a JSON object."""
    try:
        body = json.loads(raw, parse_constant=_not_json)
    except ValueError:
        body = None
    if isinstance(body, dict):
        return body
    raise Refusal(
        "We could not parse the JSON body of your request. (HINT: This likely means you aren't "
        "using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was "
        "sent was not valid JSON.)"
    )


def check(body: Body, models: Collection[str], also_allowed: Collection[str] = ()) -> None:
    """Raise `Refusal` unless the API would take this request.

    `also_allowed` names further parameters and message fields, for the servers that know more
    than OpenAI's ("top_k", "reasoning_content").
    """
    _check_model(body, models)
    _check_parameters(body, also_allowed)
    _check_streaming(body)
    _check_messages(body, also_allowed)
    _check_tools(body)
    _check_tool_choice(body)
    _check_conversation(body["messages"])


def _check_model(body: Body, models: Collection[str]) -> None:
    model = body.get("model")
    if model is None or model == "":
        raise Refusal("you must provide a model parameter")
    typed(model, "a string", "model")
    if model not in models:
        raise unknown_model(model)


def unknown_model(model: str) -> Refusal:
    """What the API says of it; a 404, unlike its other complaints."""
    words = f"The model `{model}` does not exist or you do not have access to it."
    return Refusal(words, None, "model_not_found", status=404)


def _check_parameters(body: Body, also_allowed: Collection[str]) -> None:
    unknown = sorted(body.keys() - PARAMETERS.keys() - {"model", *also_allowed})
    if unknown:
        plural = "s" if len(unknown) > 1 else ""
        raise Refusal(f"Unrecognized request argument{plural} supplied: {', '.join(unknown)}")
    for name, value in body.items():
        if name in PARAMETERS:
            parameter(name, value)


def _check_streaming(body: Body) -> None:
    options = body.get("stream_options")
    if options is None:
        return
    if not body.get("stream"):
        words = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        raise Refusal(words, "stream_options")
    known(options, {"include_usage", "include_obfuscation"}, "stream_options")
    for name, value in options.items():
        typed(value, "a boolean", f"stream_options.{name}")


def _check_messages(body: Body, also_allowed: Collection[str]) -> None:
    if "messages" not in body:
        raise missing("messages")
    filled(body["messages"], "messages")
    for place, message in enumerate(body["messages"]):
        path = f"messages[{place}]"
        typed(message, "an object", path)
        role = string_in(message, "role", path)
        one_of(role, ROLES, f"{path}.role")
        known(message, FIELDS[role].union(also_allowed), path)
        if message.get("name") is not None:
            string_in(message, "name", path, r"^[^\s<|\\/>]+$")
        _check_calls(message, path)
        _check_content(message, place)
        if role == "tool" and not isinstance(message.get("tool_call_id"), str):
            words = "messages with role 'tool' must have a 'tool_call_id'."
            where = f"messages.[{place}].tool_call_id"
            raise Refusal(f"Missing parameter 'tool_call_id': {words}", where)


def _check_content(message: Body, place: int) -> None:
    content, path = message.get("content"), f"messages[{place}].content"
    if content is None:
        if message.keys() & {"tool_calls", "function_call"}:
            return
        words = "Invalid value for 'content': expected a string, got null."
        raise Refusal(words, f"messages.[{place}].content")
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        raise wrong_type(content, "one of a string or array of objects", path)
    filled(content, path)
    for number, part in enumerate(content):
        typed(part, "an object", f"{path}[{number}]")
        kind = string_in(part, "type", f"{path}[{number}]")
        parts = ["text"] if message["role"] != "user" else ["text", "image_url", "input_audio"]
        one_of(kind, [*parts, *(["refusal"] if message["role"] == "assistant" else [])], path)
        if part.get(kind) is None:
            raise missing(f"{path}[{number}].{kind}")
        typed(part[kind], "a string" if kind in ("text", "refusal") else "an object", path)


def _check_calls(message: Body, path: str) -> None:
    if "tool_calls" not in message:
        return
    path = f"{path}.tool_calls"
    typed(message["tool_calls"], "an array of objects", path)
    filled(message["tool_calls"], path)
    for number, call in enumerate(message["tool_calls"]):
        where = f"{path}[{number}]"
        typed(call, "an object", where)
        known(call, {"id", "type", "function", "custom"}, where)
        string_in(call, "id", where, longest=40)
        one_of(string_in(call, "type", where), ["function"], f"{where}.type")
        function = object_in(call, "function", where)
        known(function, {"name", "arguments"}, f"{where}.function")
        string_in(function, "name", f"{where}.function", NAME, longest=64)
        string_in(function, "arguments", f"{where}.function", shortest=0)


def _check_tools(body: Body) -> None:
    if "tools" not in body:
        return
    filled(body["tools"], "tools", most=128)
    names = set()
    for number, tool in enumerate(body["tools"]):
        path = f"tools[{number}]"
        typed(tool, "an object", path)
        one_of(string_in(tool, "type", path), ["function"], f"{path}.type")
        function, path = object_in(tool, "function", path), f"{path}.function"
        known(function, {"name", "description", "parameters", "strict"}, path)
        name = string_in(function, "name", path, NAME, longest=64)
        if name in names:
            raise Refusal("tools: Tool names must be unique.", f"{path}.name")
        names.add(name)
        if function.get("description") is not None:
            string_in(function, "description", path, shortest=0, longest=1024)
        if "parameters" in function:
            _check_schema(function["parameters"], name, f"{path}.parameters")


def _check_schema(schema: Any, name: str, path: str) -> None:
    typed(schema, "an object", path)
    fault = _fault_of(schema, ())
    if schema.get("type") != "object":
        got = schema.get("type")
        fault = f"""schema must be a JSON Schema of 'type: "object"', got 'type: "{got}"'."""
    if fault:
        words = f"Invalid schema for function '{name}': {fault}"
        raise Refusal(words, path, "invalid_function_parameters")


def _fault_of(schema: Any, context: tuple[str, ...]) -> str | None:
    """What is wrong with a schema, or with one of those it is made of."""
    if isinstance(schema, bool):
        return None
    if not isinstance(schema, dict):
        return f"{json.dumps(schema)} is not of type 'object', 'boolean'."
    inner, choices = schema.get("properties", {}), schema.get("anyOf", [])
    for part, kind in ((inner, dict), (choices, list)):
        if not isinstance(part, kind):
            name = "object" if kind is dict else "array"
            return f"{json.dumps(part)} is not of type '{name}'."
    if schema.get("type") == "array" and "items" not in schema:
        return f"In context={context}, array schema missing items."
    if not context and "properties" not in schema:
        return "In context=(), object schema missing properties."
    parts = [(("properties", key), part) for key, part in inner.items()]
    parts += [(("anyOf", str(key)), part) for key, part in enumerate(choices)]
    faults = [_fault_of(part, context + key) for key, part in parts]
    if "items" in schema:
        faults.append(_fault_of(schema["items"], (*context, "items")))
    return next(filter(None, faults), None)


def _check_tool_choice(body: Body) -> None:
    for name in ("tool_choice", "parallel_tool_calls"):
        if name in body and "tools" not in body:
            words = f"'{name}' is only allowed when 'tools' are specified."
            raise Refusal(f"Invalid value for '{name}': {words}", name)
    choice = body.get("tool_choice", "auto")
    if isinstance(choice, str):
        return one_of(choice, ["none", "auto", "required"], "tool_choice")
    named = string_in(object_in(choice, "function", "tool_choice"), "name", "tool_choice.function")
    if named not in [tool["function"]["name"] for tool in body["tools"]]:
        words = f"no function named '{named}' was specified in the 'tools' parameter."
        raise Refusal(f"Invalid value for 'tool_choice': {words}", "tool_choice")


def _check_conversation(messages: list[Body]) -> None:
    """Each tool call is answered, once, before anything else is said."""
    called: list[str] = []
    answered: dict[str, int] = {}
    for place, message in enumerate(messages):
        if message["role"] == "tool":
            _check_answer(message["tool_call_id"], place, called, answered)
            continue
        _check_all_answered(called, answered, f"messages.[{place}].role")
        called = [call["id"] for call in message.get("tool_calls", ())]
        answered = {}
        for twice in called:
            if called.count(twice) > 1:
                raise _duplicate(twice, f"messages[{place}]", f"messages.[{place}].tool_calls")
    _check_all_answered(called, answered, "messages")


def _check_answer(name: str, place: int, called: list[str], answered: dict[str, int]) -> None:
    where = f"messages.[{place}]"
    if not called:
        words = "messages with role 'tool' must be a response to a preceding message"
        raise Refusal(f"Invalid parameter: {words} with 'tool_calls'.", f"{where}.role")
    if name not in called:
        words = f"'tool_call_id' of '{name}' not found in 'tool_calls' of previous message."
        raise Refusal(f"Invalid parameter: {words}", f"{where}.tool_call_id")
    if name in answered:
        both = f"messages[{answered[name]}] and messages[{place}]"
        raise _duplicate(name, both, f"{where}.tool_call_id")
    answered[name] = place


def _check_all_answered(called: list[str], answered: dict[str, int], where: str) -> None:
    silent = [name for name in called if name not in answered]
    if silent:
        raise Refusal(
            "An assistant message with 'tool_calls' must be followed by tool messages responding "
            "to each 'tool_call_id'. The following tool_call_ids did not have response messages: "
            + ", ".join(silent),
            where,
        )


def _duplicate(name: str, places: str, param: str) -> Refusal:
    words = f"Duplicate value for 'tool_call_id' of '{name}', in {places}."
    return Refusal(f"Invalid parameter: {words}", param)


def _not_json(constant: str) -> None:
    raise ValueError(constant)
