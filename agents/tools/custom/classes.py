"""The classes of a source that stand for JSON objects, and the fields they have."""

from __future__ import annotations

import ast
from typing import Any, Optional

from django.utils.translation import gettext
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from .annotations import AnnotationError, SourceError, constant, named, type_of
from .docstring import read_docstring
from .schemas import arguments_model

CONSTRAINTS = ("ge", "gt", "le", "lt", "min_length", "max_length", "pattern")
FACTORIES: dict[str, Any] = {"list": [], "dict": {}, "str": "", "int": 0, "float": 0.0}


class Models:
    """The classes of a source that stand for JSON objects: BaseModels and dataclasses."""

    def __init__(self, tree: ast.Module) -> None:
        self.nodes = {n.name: n for n in tree.body if isinstance(n, ast.ClassDef)}
        self.models: dict[str, type[BaseModel] | None] = {}

    def pydantic(self) -> list[ast.ClassDef]:
        """The subclasses of BaseModel."""
        return [n for n in self.nodes.values() if is_pydantic(n)]

    def get(self, name: str) -> type[BaseModel] | None:
        """The model of that name; None if the source has no such class."""
        if name in self.models:
            if self.models[name] is None:
                words = gettext("%(name)s contains itself, which JSON arguments cannot.")
                raise SourceError(words % {"name": name}, self.nodes[name].lineno)
            return self.models[name]
        node = self.nodes.get(name)
        if node is None or not (is_pydantic(node) or is_dataclass(node)):
            return None
        self.models[name] = None
        fields = {}
        _, described = read_docstring(ast.get_docstring(node, clean=False) or "")
        for field, annotation, default in fields_of(node):
            where = gettext("the field '%(field)s' of %(name)s") % {"field": field, "name": name}
            fields[field] = self.field(where, annotation, default, described.get(field))
        self.models[name] = arguments_model(name, fields)
        return self.models[name]

    def of(self, annotation: ast.expr | None) -> Any:
        """The type that an annotation names, if it names a class of this source; None if not."""
        if annotation is None:
            return None
        names = [node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)]
        try:
            return type_of(annotation, self.get) if any(map(self.get, names)) else None
        except AnnotationError:
            return None

    def field(
        self,
        where: str,
        annotation: ast.expr,
        value: ast.expr | None,
        described: str | None,
    ) -> tuple[Any, Any]:
        """One field for pydantic: its type, its default and what is said of it."""
        try:
            settings, about = field_settings(value)
            if described:
                about.setdefault("description", described)
            kind = type_of(annotation, self.get)
            if not settings:
                return kind, Field(**about)
            default = default_of(settings)
            if default is None:
                kind = Optional[kind]  # noqa: UP045
            TypeAdapter(kind).validate_python(default, strict=True)
        except AnnotationError as error:
            raise SourceError(
                f"{where[0].upper()}{where[1:]}: {error}.", annotation.lineno
            ) from None
        except ValidationError:
            words = gettext(
                "The default of %(where)s is %(default)s, which is not of the type %(type)s."
            )
            details = {"where": where, "default": repr(default), "type": ast.unparse(annotation)}
            raise SourceError(words % details, annotation.lineno) from None
        return kind, Field(default, **about)


def fields_of(node: ast.ClassDef) -> list[tuple[str, ast.expr, ast.expr | None]]:
    """A class's annotated fields: name, annotation, and what is assigned, if anything is."""
    fields = {
        n.target.id: (n.target.id, n.annotation, n.value)
        for n in node.body
        if isinstance(n, ast.AnnAssign)
        and isinstance(n.target, ast.Name)
        and named(n.annotation) != "ClassVar"
    }
    return list(fields.values())


def field_settings(value: ast.expr | None) -> tuple[dict[str, ast.expr], dict[str, Any]]:
    """What stands behind a field's "=": its default (see `default_of`), and what is said of it."""
    if value is None:
        return {}, {}
    if not isinstance(value, ast.Call) or named(value) not in ("Field", "field"):
        return {"default": value}, {}
    settings = {keyword.arg: keyword.value for keyword in value.keywords if keyword.arg}
    if value.args:
        settings["default"] = value.args[0]
    default: dict[str, ast.expr] = {
        key: settings[key] for key in ("default", "default_factory") if key in settings
    }
    if (
        isinstance(default.get("default"), ast.Constant)
        and ast.unparse(default["default"]) == "..."
    ):
        del default["default"]
    about = {k: constant(v) for k, v in settings.items() if k in ("description", *CONSTRAINTS)}
    return default, about


def default_of(default: dict[str, ast.expr]) -> Any:
    """The value of a default."""
    if factory := default.get("default_factory"):
        if named(factory) not in FACTORIES:
            words = gettext("the default_factory must be one of: %(names)s")
            raise AnnotationError(words % {"names": ", ".join(FACTORIES)})
        return FACTORIES[named(factory)]
    return constant(default["default"])


def is_pydantic(node: ast.ClassDef) -> bool:
    return any(named(base) == "BaseModel" for base in node.bases)


def is_dataclass(node: ast.ClassDef) -> bool:
    return any(named(decorator) == "dataclass" for decorator in node.decorator_list)
