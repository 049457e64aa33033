"""JSON blocks: a value that must stay a JSON list or object, and may have to fit a schema."""

from __future__ import annotations

import json
from typing import Any

from django.utils.translation import gettext

TYPES: dict[str, type] = {"list": list, "object": dict}


def problem(kind: str, schema: dict[str, Any] | None, value: str) -> str:
    """What is wrong with a block's value, as the end of a sentence; "" if nothing is.

    `kind` is "text", "list" or "object"; `schema` a JSON Schema, for the latter two.
    """
    if kind == "text":
        return ""
    try:
        parsed = json.loads(value)
    except ValueError as error:
        return gettext("it would no longer be JSON (%(error)s)") % {"error": error}
    except RecursionError:
        return gettext("it would be nested too deeply to read")
    if not isinstance(parsed, TYPES[kind]):
        if kind == "list":
            words = gettext("it would be %(type)s, not a JSON list")
        else:
            words = gettext("it would be %(type)s, not a JSON object")
        return words % {"type": in_words(parsed)}
    return misfit(schema, parsed, gettext("the block's schema")) if schema else ""


def misfit(schema: dict[str, Any], value: Any, what: str) -> str:
    """Where a value does not fit a schema, as the end of a sentence; "" if it does."""
    # jsonschema takes 9 MB and 60 ms, and few blocks have a schema
    from . import json_schema  # noqa: PLC0415

    return json_schema.misfit(schema, value, what)


def schema_problem(schema: Any) -> str:
    """What is wrong with a schema, in a sentence; "" if nothing is."""
    # as in `misfit`
    from . import json_schema  # noqa: PLC0415

    return json_schema.schema_problem(schema)


def empty(kind: str) -> str:
    """The value that a JSON block starts with."""
    return {"list": "[]", "object": "{}"}.get(kind, "")


def in_words(value: Any) -> str:
    if value is None:
        return "null"
    names = {
        dict: gettext("an object"),
        list: gettext("a list"),
        str: gettext("a string"),
        bool: gettext("true or false"),
    }
    return names.get(type(value)) or gettext("a number")
