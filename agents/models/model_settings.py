"""How an agent's model is asked: temperature and the like. What is not set is the endpoint's own.

All settings are here once: the page's form, the admin, files and the API go by `MODEL_SETTINGS`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from agents.text.numbers import whole

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
        raise ValidationError(gettext("Model settings must be a JSON object."))
    for name, value in settings.items():
        if words := problem(name, value):
            raise ValidationError(words)


def problem(name: str, value: Any) -> str:
    """What is wrong with a setting, in a sentence; "" if nothing is."""
    kind = MODEL_SETTINGS.get(name)
    if kind is None:
        unknown = gettext("There is no model setting '%(name)s'. There are: %(names)s.")
        return unknown % {"name": name[:50], "names": ", ".join(MODEL_SETTINGS)}
    if name == "response_format":
        return format_problem(value)
    if not isinstance(kind, Number):
        words = ", ".join(str(each).lower() for each in kind)
        fits = isinstance(value, type(kind[0])) and value in kind
        if fits:
            return ""
        return gettext("%(name)s must be one of: %(values)s.") % {"name": name, "values": words}
    number = type(value) is int or (type(value) is float and not kind.whole)
    if not number or not math.isfinite(value) or not kind.least <= value <= kind.most:
        outside = gettext("%(name)s must be a number from %(least)s to %(most)s.")
        if kind.whole:
            outside = gettext("%(name)s must be a whole number from %(least)s to %(most)s.")
        return outside % {"name": name, "least": f"{kind.least:,}", "most": f"{kind.most:,}"}
    return ""


def format_problem(value: Any) -> str:
    if not isinstance(value, Mapping) or value.get("type") not in FORMATS:
        words = gettext("response_format must be an object whose 'type' is one of: %(types)s.")
        return words % {"types": ", ".join(FORMATS)}
    if value["type"] == "json_schema" and not isinstance(value.get("json_schema"), Mapping):
        return gettext("response_format of type 'json_schema' needs the schema as 'json_schema'.")
    if len(json.dumps(value)) > LONGEST_FORMAT:
        words = gettext("response_format may have %(most)s characters as JSON.")
        return words % {"most": whole(LONGEST_FORMAT)}
    return ""
