"""JSON schemas of a tool's arguments: written out, and as types where a script sent one.

What a schema calls an object with fields is an object with fields for the tool as well: a class in
the sandbox, as a source's own BaseModels are.
"""

from __future__ import annotations

import ast
import copy
import keyword
from typing import Any, Optional, Union

from django.utils.translation import gettext
from pydantic import BaseModel, ConfigDict, Field, create_model

from agents.text.json_blocks import schema_problem

from .annotations import SourceError

LARGEST_SCHEMA = 5_000  # parts, after each model was written out where it is used
DEEPEST_SCHEMA = 60  # levels
CONFIG = ConfigDict(extra="forbid", protected_namespaces=(), validate_default=True)
LENIENT = ConfigDict(extra="ignore", protected_namespaces=())


class SchemaError(SourceError):
    """What is wrong with the schema that was sent beside a source."""


def arguments_model(name: str, fields: dict[str, Any]) -> type[BaseModel]:
    """A model with these fields; SourceError where pydantic can make none."""
    try:
        return create_model(name, __config__=CONFIG, **fields)
    except Exception as error:  # names and types that the tool's author chose
        words = gettext("The arguments of %(name)s cannot be checked: %(error)s.")
        raise SourceError(words % {"name": name, "error": error}) from None


def written_out(schema: dict[str, Any]) -> dict[str, Any]:
    """A JSON schema with each definition where it is used, and without the titles pydantic adds."""
    definitions = schema.pop("$defs", {})
    parts = 0

    def plain(node: Any, depth: int = 0, names: bool = False) -> Any:
        nonlocal parts
        parts += 1
        if parts > LARGEST_SCHEMA or depth > DEEPEST_SCHEMA:
            words = gettext("The arguments have too many parts; use fewer or simpler types.")
            raise SourceError(words)
        if isinstance(node, list):
            return [plain(each, depth + 1) for each in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node and not names:
            rest = {key: value for key, value in node.items() if key != "$ref"}
            referred = definitions[str(node["$ref"]).removeprefix("#/$defs/")]
            return plain(referred, depth + 1) | plain(rest, depth)
        return {
            key: value
            if key == "default" and not names
            else plain(value, depth + 1, key == "properties" and not names)
            for key, value in node.items()
            if key != "title" or names
        }

    written: dict[str, Any] = plain(schema)
    return written


def given_parameters(schema: Any, hidden: tuple[str, ...]) -> dict[str, Any]:
    """The schema of arguments that a script sent, written out, without what no model fills in."""
    if problem := schema_problem(schema):
        raise SchemaError(problem)
    if schema.get("type", "object") != "object":
        raise SchemaError(gettext("The schema of a tool's arguments must be of the type object."))
    try:
        written = written_out(copy.deepcopy(schema))
    except KeyError as missing:
        words = gettext("The schema refers to %(name)s, which it does not define.")
        raise SchemaError(words % {"name": missing}) from None
    except SourceError as error:
        raise SchemaError(str(error)) from None
    properties = written.get("properties", {})
    required = [name for name in written.get("required", []) if name not in hidden]
    kept = {name: each for name, each in properties.items() if name not in hidden}
    if lost := [name for name in required if name not in kept]:
        words = gettext("The schema requires '%(name)s', which is not among its properties.")
        raise SchemaError(words % {"name": lost[0]})
    return written | {"type": "object", "properties": kept, "required": required}


class SchemaTypes:
    """The types of the parts of a schema; `nodes` are the classes they need in the sandbox."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = taken
        self.nodes: list[ast.ClassDef] = []

    def of(self, schema: Any, name: str) -> Any:
        """The type of a part, by the name of the argument or field that it is; the schema itself
        says more than the type does."""
        if not isinstance(schema, dict):
            return Any
        for key in ("anyOf", "oneOf", "allOf"):
            if variants := schema.get(key):
                kinds = [self.of(each, name) for each in variants]
                return Any if Any in kinds else Union[tuple(kinds)]  # noqa: UP007
        kind = schema.get("type")
        if kind == "null":
            return None
        if kind == "array":
            return list[self.of(schema.get("items"), name)]  # type: ignore[misc]
        fields = schema.get("properties")
        if kind == "object" and fields and all(map(is_field, fields)):
            return self.model(name, fields, schema.get("required", []))
        return dict[str, Any] if kind == "object" else Any

    def model(self, name: str, fields: dict[str, Any], required: list[str]) -> type[BaseModel]:
        """A class with fields."""
        title = "".join(part.capitalize() for part in name.split("_")) or "Argument"
        while title in self.taken:
            title += "_"
        self.taken.add(title)
        described: dict[str, Any] = {}
        lines = [f"class {title}:"]
        for field, schema in fields.items():
            kind = self.of(schema, f"{name}_{field}")
            if field in required:
                described[field] = (kind, ...)
                lines.append(f"    {field}: object")
            else:
                default = schema.get("default") if isinstance(schema, dict) else None
                described[field] = (Optional[kind], Field(default))  # noqa: UP045
                lines.append(f"    {field}: object = {default!r}")
        node = ast.parse("\n".join(lines)).body[0]
        assert isinstance(node, ast.ClassDef)
        self.nodes.append(node)
        return create_model(title, __config__=LENIENT, **described)


def is_field(name: str) -> bool:
    """Whether a class may have a field of this name."""
    return name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_")
