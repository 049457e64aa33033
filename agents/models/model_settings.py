"""How an agent's model is asked: temperature and the like. What is not set is the endpoint's own.

All settings are here once: the page's form, the admin, files and the API go by `MODEL_SETTINGS`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError

LONGEST_FORMAT = 20_000  # characters of a response format, as JSON
FORMATS = ("text", "json_object", "json_schema")


class Number(NamedTuple):
    """A number within bounds."""

    least: float
    most: float
    whole: bool = False


EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
VERBOSITIES = ("low", "medium", "high")
MODEL_SETTINGS: dict[str, Number | tuple[Any, ...]] = {
    "temperature": Number(0, 2),
    "top_p": Number(0, 1),
    "frequency_penalty": Number(-2, 2),
    "max_output_tokens": Number(1, 1_000_000, whole=True),
    "reasoning_effort": EFFORTS,
    "verbosity": VERBOSITIES,
    "parallel_tool_calls": (True, False),
    "response_format": FORMATS,  # its type; a JSON Schema stands beside it
}


def check_model_settings(settings: Any) -> None:
    """ValidationError, in a sentence, where a setting is unknown or cannot have its value."""
    if not isinstance(settings, Mapping):
        raise ValidationError("Model settings must be a JSON object.")
    for name, value in settings.items():
        if words := problem(name, value):
            raise ValidationError(words)


def problem(name: str, value: Any) -> str:
    """What is wrong with a setting, in a sentence; "" if nothing is."""
    kind = MODEL_SETTINGS.get(name)
    if kind is None:
        return f"There is no model setting '{name[:50]}'. There are: {', '.join(MODEL_SETTINGS)}."
    if name == "response_format":
        return format_problem(value)
    if not isinstance(kind, Number):
        words = ", ".join(str(each).lower() for each in kind)
        fits = isinstance(value, type(kind[0])) and value in kind
        return "" if fits else f"{name} must be one of: {words}."
    wanted = "a whole number" if kind.whole else "a number"
    number = type(value) is int or (type(value) is float and not kind.whole)
    if not number or not math.isfinite(value) or not kind.least <= value <= kind.most:
        return f"{name} must be {wanted} from {kind.least:,} to {kind.most:,}."
    return ""


def format_problem(value: Any) -> str:
    if not isinstance(value, Mapping) or value.get("type") not in FORMATS:
        return f"response_format must be an object whose 'type' is one of: {', '.join(FORMATS)}."
    if value["type"] == "json_schema" and not isinstance(value.get("json_schema"), Mapping):
        return "response_format of type 'json_schema' needs the schema as 'json_schema'."
    if len(json.dumps(value)) > LONGEST_FORMAT:
        return f"response_format may have {LONGEST_FORMAT:,} characters as JSON."
    return ""
