"""The form of a request's single fields, and the API's words where one is not well formed."""

import re
from collections.abc import Iterable
from typing import Any

Body = dict[str, Any]

KINDS: dict[str, tuple[type, ...]] = {
    "a boolean": (bool,),
    "an integer": (int,),
    "a decimal": (int, float),
    "a string": (str,),
    "an array": (list,),
    "an array of objects": (list,),
    "an object": (dict,),
    "one of a string or array of strings": (str, list),
    "one of a string or object": (str, dict),
}
NULLABLE = {
    "a boolean": "logprobs store stream",
    "an integer": "max_completion_tokens max_tokens n seed top_logprobs",
    "a decimal": "frequency_penalty presence_penalty temperature top_p",
    "a string": "prompt_cache_key prompt_cache_retention reasoning_effort safety_identifier"
    " service_tier verbosity",
    "an array": "modalities",
    "an object": "audio logit_bias metadata moderation prediction stream_options",
    "one of a string or array of strings": "stop",
}
REQUIRED = {
    "a boolean": "parallel_tool_calls",
    "a string": "user",
    "an array of objects": "functions messages tools",
    "an object": "prompt_cache_options response_format web_search_options",
    "one of a string or object": "function_call tool_choice",
}
PARAMETERS = {
    name: (kind, nullable)
    for table, nullable in ((NULLABLE, True), (REQUIRED, False))
    for kind, names in table.items()
    for name in names.split()
}
RANGES: dict[str, tuple[float, float]] = {
    "temperature": (0, 2),
    "top_p": (0, 1),
    "frequency_penalty": (-2, 2),
    "presence_penalty": (-2, 2),
    "max_tokens": (1, float("inf")),
    "max_completion_tokens": (1, float("inf")),
    "n": (1, 128),
}


class Refusal(Exception):
    """An HTTP error with the API's JSON body."""

    def __init__(
        self,
        message: str,
        param: str | None = None,
        code: str | None = None,
        *,
        status: int = 400,
        kind: str = "invalid_request_error",
    ) -> None:
        super().__init__(message)
        self.status = status
        self.error = {"message": message, "type": kind, "param": param, "code": code}


def parameter(name: str, value: Any) -> None:
    """Check the type, and the range if it has one, of a top-level parameter."""
    kind, nullable = PARAMETERS[name]
    if nullable and value is None:
        return
    typed(value, kind, name)
    low, high = RANGES.get(name, (None, None))
    if low is None or high is None or low <= value <= high:
        return
    number = "integer" if kind == "an integer" else "decimal"
    side, sign, bound = ("below min", ">=", low) if value < low else ("above max", "<=", high)
    raise Refusal(
        f"Invalid '{name}': {number} {side}imum value. "
        f"Expected a value {sign} {bound:g}, but got {value} instead.",
        name,
        f"{number}_{side.replace(' ', '_')}_value",
    )


def missing(path: str) -> Refusal:
    words = f"Missing required parameter: '{path}'."
    return Refusal(words, path, "missing_required_parameter")


def wrong_type(value: Any, kind: str, path: str) -> Refusal:
    got = next((name for name in KINDS if _is(value, name)), "null")
    words = f"Invalid type for '{path}': expected {kind}, but got {got} instead."
    return Refusal(words, path, "invalid_type")


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, KINDS[kind]) and (kind == "a boolean" or not isinstance(value, bool))


def typed(value: Any, kind: str, path: str) -> None:
    if not _is(value, kind):
        raise wrong_type(value, kind, path)


def object_in(holder: Body, name: str, path: str) -> Body:
    if name not in holder:
        raise missing(f"{path}.{name}")
    typed(holder[name], "an object", f"{path}.{name}")
    return dict(holder[name])


def string_in(
    holder: Body,
    name: str,
    path: str,
    pattern: str = "",
    *,
    shortest: int = 1,
    longest: int | None = None,
) -> str:
    """The string `holder[name]`, of the right length and form."""
    if name not in holder:
        raise missing(f"{path}.{name}")
    path, value = f"{path}.{name}", holder[name]
    typed(value, "a string", path)
    assert isinstance(value, str)
    if len(value) < shortest:
        words = "Expected a string with minimum length 1, but got an empty string instead."
        raise Refusal(f"Invalid '{path}': empty string. {words}", path, "empty_string")
    if longest and len(value) > longest:
        words = f"Expected a string with maximum length {longest}, but got a string with length"
        words = f"Invalid '{path}': string too long. {words} {len(value)} instead."
        raise Refusal(words, path, "string_above_max_length")
    if pattern and not re.fullmatch(pattern.removesuffix("$"), value):
        words = f"Expected a string that matches the pattern '{pattern}'."
        words = f"Invalid '{path}': string does not match pattern. {words}"
        raise Refusal(words, path, "invalid_value")
    return value


def filled(value: list[Any], path: str, most: int = 2048) -> None:
    if not value:
        words = "Expected an array with minimum length 1, but got an empty array instead."
        raise Refusal(f"Invalid '{path}': empty array. {words}", path, "empty_array")
    if len(value) > most:
        words = f"Expected an array with maximum length {most}, but got an array with length"
        words = f"Invalid '{path}': array too long. {words} {len(value)} instead."
        raise Refusal(words, path, "array_above_max_length")


def known(holder: Body, fields: Iterable[str], path: str) -> None:
    for name in holder:
        if name not in fields:
            path = f"{path}.{name}"
            raise Refusal(f"Unknown parameter: '{path}'.", path, "unknown_parameter")


def one_of(value: str, allowed: Iterable[str], path: str) -> None:
    quoted = [f"'{name}'" for name in allowed]
    if f"'{value}'" in quoted:
        return
    listed = ", ".join(quoted[:-1]) + f", and {quoted[-1]}" if len(quoted) > 2 else ""
    listed = listed or " and ".join(quoted)
    raise Refusal(
        f"Invalid value: '{value}'. Supported values are: {listed}.", path, "invalid_value"
    )
