"""JSON Schema, for JSON blocks. Loaded where the first schema is."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from django.utils.translation import gettext
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
        words = gettext("%(schema)s cannot be applied (%(error)s)")
        return words % {"schema": what, "error": unresolved}
    if error is None:
        return ""
    place = "".join(f"[{part!r}]" for part in error.absolute_path)
    values = {"schema": what, "place": place, "error": error.message[:300]}
    if place:
        return gettext("it would not fit %(schema)s: at %(place)s, %(error)s") % values
    return gettext("it would not fit %(schema)s: %(error)s") % values


def schema_problem(schema: Any) -> str:
    """What is wrong with a schema, in a sentence; "" if nothing is."""
    if not isinstance(schema, dict):
        return gettext("A schema must be a JSON object.")
    try:
        validator_for(schema).check_schema(schema)
    except SchemaError as error:
        words = gettext("This is not a valid JSON Schema: %(error)s")
        return words % {"error": error.message[:300]}
    except RecursionError:
        return gettext("The schema is nested too deeply.")
    return ""


@lru_cache(maxsize=256)
def _validator(schema: str) -> Validator:
    """A schema's validator, which fetches nothing from elsewhere."""
    known = json.loads(schema)
    validator: Validator = validator_for(known)(known, registry=Registry())
    return validator
