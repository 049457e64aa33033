"""An agent's model settings as fields of a request, in the form that its endpoint takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .dialects import Dialect


def options_of(
    settings: Mapping[str, Any], dialect: Dialect, *, tools: bool, demanded: bool
) -> dict[str, Any]:
    """The options of a request, by the names they have on the wire.

    `tools`: it offers some; `demanded`: one of them must be called.
    """
    options: dict[str, Any] = {"tool_choice": "required"} if demanded else {}
    for name, value in settings.items():
        if name == "max_output_tokens":
            options[dialect.limit] = value
        elif name == "parallel_tool_calls" and not tools:
            continue  # an error for OpenAI where there is no tool
        elif name not in dialect.without.split(","):
            options[name] = value
    return options
