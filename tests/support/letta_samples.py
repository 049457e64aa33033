"""A value for each field that `letta-client` sends, by the shapes that `letta_fields.py` read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.support.letta_fields import FILE

CLIENT = json.loads(FILE.read_text())
TYPES = CLIENT["types"]
SAMPLES = {"text": "sample", "integer": 1001, "number": 0.5, "flag": True, "object": {"k": "v"}}
DEEPEST = 4
Field = tuple[str, Any]  # its path, and the object or value that is sent for the first name of it


def sample(shape: Any) -> Any:
    """A value of a shape; of an object, what it needs."""
    match shape:
        case {"one_of": values}:
            return values[-1]
        case {"any": shapes}:
            return sample(shapes[0])
        case {"list": each}:
            return [sample(each)]
        case str() if shape in SAMPLES:
            return SAMPLES[shape]
    kind = TYPES[shape]
    needed = {name: sample(kind["fields"][name]) for name in kind["needed"]}
    tag = kind["fields"].get("type") or kind["fields"].get("provider_type")
    named = "type" if "type" in kind["fields"] else "provider_type"
    return ({named: sample(tag)} if tag else {}) | needed


def fields(shape: Any, path: str, depth: int = 0) -> Iterator[Field]:
    """Each field of a shape, also those inside, with a value that has it."""
    match shape:
        case {"any": shapes}:
            for each in shapes:
                yield from fields(each, path, depth)
        case {"list": each}:
            for inner, value in fields(each, path, depth):
                yield inner, [value]
        case str() if shape in TYPES and depth < DEEPEST:
            whole = sample(shape)
            for name, inside in TYPES[shape]["fields"].items():
                for inner, value in fields(inside, f"{path}.{name}", depth + 1):
                    yield inner, whole | {name: value}
        case _:
            yield path, sample(shape)


def leaves(sent: dict[str, Any]) -> list[Field]:
    """Each field once, by its path."""
    found = [each for name, shape in sent.items() for each in fields(shape, name)]
    return list({path: (path, value) for path, value in reversed(found)}.values())
