"""Typed blocks: a value that must stay a JSON list or object, and may have to fit a schema."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from jsonschema import SchemaError
from jsonschema.exceptions import best_match
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

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
    return misfit(schema, given) if schema else ""


def misfit(schema: dict[str, Any], given: Any) -> str:
    """Where a value does not fit its schema; "" if it does."""
    try:
        error = best_match(_validator(json.dumps(schema)).iter_errors(given))
    except (Unresolvable, RecursionError) as unresolved:
        return f"its schema cannot be applied ({unresolved})"
    if error is None:
        return ""
    place = "".join(f"[{part!r}]" for part in error.absolute_path)
    return f"it would not fit the block's schema: {place and f'at {place}, '}{error.message[:300]}"


def wrong_schema(schema: Any) -> str:
    """What is wrong with a schema; "" if nothing is."""
    if not isinstance(schema, dict):
        return "A schema is a JSON object."
    try:
        validator_for(schema).check_schema(schema)
    except SchemaError as error:
        return f"This is no JSON Schema: {error.message[:300]}"
    except RecursionError:
        return "The schema is nested too deeply."
    return ""


def empty(kind: str) -> str:
    """The value a typed block starts with."""
    return {"list": "[]", "object": "{}"}.get(kind, "")


def in_words(given: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
    return names.get(type(given), "null" if given is None else "a number")


@lru_cache(maxsize=256)
def _validator(schema: str) -> Validator:
    """A schema's validator, which fetches nothing from elsewhere."""
    known = json.loads(schema)
    validator: Validator = validator_for(known)(known, registry=Registry())
    return validator
