"""Typed blocks: a value that must stay a JSON list or object, and may have to fit a schema."""

from __future__ import annotations

import json
from typing import Any

TYPES: dict[str, type] = {"list": list, "object": dict}


def wrong(kind: str, schema: dict[str, Any] | None, value: str) -> str:
    """What is wrong with a block's value, as the end of a sentence; "" if nothing is.

    `kind` is "text", "list" or "object"; `schema` a JSON Schema, for the latter two.
    """
    if kind == "text":
        return ""
    try:
        given = json.loads(value)
    except ValueError as error:
        return f"it would no longer be JSON ({error})"
    except RecursionError:
        return "it would be nested too deeply"
    if not isinstance(given, TYPES[kind]):
        return f"it would be {in_words(given)}, not a JSON {kind}"
    if not schema:
        return ""
    from .json_schema import misfit

    return misfit(schema, given)


def wrong_schema(schema: Any) -> str:
    """What is wrong with a schema, in a sentence; "" if nothing is."""
    from . import json_schema

    return json_schema.wrong_schema(schema)


def empty(kind: str) -> str:
    """The value a typed block starts with."""
    return {"list": "[]", "object": "{}"}.get(kind, "")


def in_words(given: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
    return names.get(type(given), "null" if given is None else "a number")
