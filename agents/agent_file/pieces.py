"""JSON written in parts, so that a long list is never complete in memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import GeneratorType
from typing import Any


def plain(value: Any) -> Any:
    """A value with its generators as lists."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | GeneratorType) else value


def pieces(value: Any) -> Iterator[str]:
    """A value as JSON; a generator is written element by element."""
    if isinstance(value, dict) and value:
        for place, (name, each) in enumerate(value.items()):
            yield f"{',' if place else '{'}{dumps(name)}:"
            yield from pieces(each)
        yield "}"
    elif isinstance(value, GeneratorType):
        yield "["
        for place, each in enumerate(value):
            yield f",{dumps(each)}" if place else dumps(each)
        yield "]"
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for place, each in enumerate(value):
            yield "," if place else "["
            yield from pieces(each)
        yield "]"
    else:
        yield dumps(value)


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
