"""JSON Schema, for JSON blocks. Loaded where the first schema is."""

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


def misfit(schema: dict[str, Any], value: Any, what: str) -> str:
    """Where a value does not fit a schema, as the end of a sentence; "" if it does."""
    try:
        error = best_match(_validator(json.dumps(schema)).iter_errors(value))
    except (Unresolvable, RecursionError) as unresolved:
        return f"{what} cannot be applied ({unresolved})"
    if error is None:
        return ""
    place = "".join(f"[{part!r}]" for part in error.absolute_path)
    return f"it would not fit {what}: {place and f'at {place}, '}{error.message[:300]}"


def schema_problem(schema: Any) -> str:
    """What is wrong with a schema, in a sentence; "" if nothing is."""
    if not isinstance(schema, dict):
        return "A schema must be a JSON object."
    try:
        validator_for(schema).check_schema(schema)
    except SchemaError as error:
        return f"This is not a valid JSON Schema: {error.message[:300]}"
    except RecursionError:
        return "The schema is nested too deeply."
    return ""


@lru_cache(maxsize=256)
def _validator(schema: str) -> Validator:
    """A schema's validator, which fetches nothing from elsewhere."""
    known = json.loads(schema)
    validator: Validator = validator_for(known)(known, registry=Registry())
    return validator
