"""What a tool returned, as the model gets it."""

from __future__ import annotations

import json
from typing import Any

from agents.models.message import storable

LONGEST_OUTPUT = 50_000  # characters of what a tool returns, and of what it prints


def as_text(value: Any) -> str:
    """A returned value as text: an object as JSON, anything else as `str` has it."""
    if isinstance(value, dict):
        try:
            value = json.dumps(value, ensure_ascii=False)
        except (TypeError, ValueError):
            value = str(value)
    return cut(str(value))


def cut(text: str, length: int | None = None, limit: int = LONGEST_OUTPUT) -> str:
    """The text's first `limit` characters, with a note that its `length` is more, in the words that
    Letta's scripts look for."""
    length = len(text) if length is None else length
    if length > limit:
        text = (
            f"{text[:limit]}... [NOTE: function output was truncated since it exceeded the"
            f" character limit: {length} > {limit}]"
        )
    return storable(text)
