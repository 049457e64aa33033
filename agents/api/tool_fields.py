"""What scripts send of a tool, as the fields of its row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import ValidationError

from agents.models.tool import LONGEST_RETURN

from .errors import invalid
from .schemas.tools import InPython, NewTool, ToolChange

ANEW = {"given_schema": {}, "given_description": ""}  # as the source has it, unless it is sent
NO_ARGUMENTS = {"type": "object", "properties": {}}
WIRE = {"source": "source_code", "metadata": "metadata_"}


@contextmanager
def wire_names(data: InPython) -> Iterator[None]:
    """Errors of a tool's fields under the names that the script sent them by."""
    only_arguments = data.args_json_schema and not data.json_schema
    names = WIRE | {"given_schema": "args_json_schema" if only_arguments else "json_schema"}
    try:
        yield
    except ValidationError as error:
        if not hasattr(error, "error_dict"):
            raise
        named = {names.get(field, field): each for field, each in error.error_dict.items()}
        raise ValidationError(named) from None


def fields(data: NewTool | ToolChange) -> dict[str, Any]:
    """The fields of a tool that the request sets."""
    limit = data.return_char_limit
    settings = {
        "source": data.source_code,
        "tags": data.tags,
        "return_char_limit": None if limit is None else min(limit, LONGEST_RETURN),
        "default_requires_approval": data.default_requires_approval,
        "metadata": data.metadata_,
        **described(data),
    }
    if data.description is not None:
        settings["given_description"] = data.description
    return {name: value for name, value in settings.items() if value is not None}


def described(data: InPython) -> dict[str, Any]:
    """Name, description and schema as a script sent them; 422 for what cannot run here."""
    if data.source_type not in (None, "python", "json"):
        raise invalid("source_type", "Only Python tools can run here; write the source in Python.")
    if schema := data.json_schema:
        name, description = schema.get("name", ""), schema.get("description", "")
        if not isinstance(name, str) or not isinstance(description, str):
            raise invalid("json_schema", "A schema's name and description are texts.")
        parameters = schema.get("parameters") or NO_ARGUMENTS
        said = {"given_schema": parameters, "given_description": description}
        return said | ({"name": name} if name else {})
    return {"given_schema": data.args_json_schema} if data.args_json_schema else {}
