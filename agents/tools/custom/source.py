"""A tool from its source: name, description and schema are read off, nothing is run."""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Optional

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model

from agents.models.tool import LONGEST_SOURCE

from ..tool import HEARTBEAT
from .annotations import AnnotationError, SourceError, constant, named, type_of
from .docstring import read_docstring

LARGEST_SCHEMA = 5_000  # parts, after each model was written out where it is used
DEEPEST_SCHEMA = 60  # levels
LONGEST_SCHEMA = 50_000  # characters of JSON
HIDDEN = ("agent_state", "self", HEARTBEAT)  # what a function may take that no model fills in
CONSTRAINTS = ("ge", "gt", "le", "lt", "min_length", "max_length", "pattern")
FACTORIES: dict[str, Any] = {"list": [], "dict": {}, "str": "", "int": 0, "float": 0.0}
CONFIG = ConfigDict(extra="forbid", protected_namespaces=(), validate_default=True)


@dataclass(frozen=True)
class Definition:
    """What a source defines: a function to call, and the classes its arguments are made of."""

    name: str
    description: str
    arguments: type[BaseModel]
    schema: dict[str, Any]
    hidden: tuple[str, ...]  # those of HIDDEN that the function takes
    classes: tuple[ast.ClassDef, ...]  # the source's subclasses of BaseModel


@lru_cache(maxsize=256)
def read_source(source: str, name: str = "") -> Definition:
    """Read the function called `name`, else the last public one; SourceError says what is wrong."""
    if len(source) > LONGEST_SOURCE:
        raise SourceError(
            f"The source has {len(source):,} characters; at most {LONGEST_SOURCE:,} are allowed."
        )
    try:
        tree = ast.parse(source)
        compile(tree, "<tool>", "exec", dont_inherit=True)  # what the parser lets pass
        return _definition(tree, _function(tree, name))
    except SyntaxError as error:
        at = f" in line {error.lineno}" if error.lineno else ""
        raise SourceError(
            f"The source is not Python: {error.msg}{at}.", error.lineno or 0
        ) from None
    except (RecursionError, MemoryError):
        raise SourceError("The source is nested too deeply to be read; split it up.") from None
    except ValueError as error:
        if isinstance(error, SourceError):
            raise
        raise SourceError(f"The source is not Python: {error}.") from None


def _function(tree: ast.Module, name: str) -> ast.FunctionDef:
    """The function to call."""
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    public = [n for n in functions if n.name == name or not (name or n.name.startswith("_"))]
    if not public:
        what = f"function '{name}'" if name else "public function"
        raise SourceError(f"The source has no {what}; write one as 'def name(…):' at its top.")
    function = public[-1]
    if isinstance(function, ast.AsyncFunctionDef):
        raise SourceError(
            f"{function.name} is async; write 'def', not 'async def'.", function.lineno
        )
    return function


def _definition(tree: ast.Module, function: ast.FunctionDef) -> Definition:
    name = function.name
    description, described = read_docstring(ast.get_docstring(function, clean=False) or "")
    if not description:
        raise SourceError(
            f"{name} has no docstring that says what it does; the model needs one.", function.lineno
        )
    models = Models(tree)
    fields: dict[str, Any] = {}
    hidden = []
    for argument, default in _parameters(function):
        if argument.arg in HIDDEN:
            hidden.append(argument.arg)
            continue
        where = f"the argument '{argument.arg}' of {name}"
        if argument.annotation is None:
            raise SourceError(
                f"The type of {where} is missing; write '{argument.arg}: str'.", argument.lineno
            )
        if argument.arg not in described:
            raise SourceError(
                f"The docstring does not describe {where}; do so under 'Args:', as in"
                f" '{argument.arg} ({ast.unparse(argument.annotation)}): what it is'.",
                argument.lineno,
            )
        about = described[argument.arg]
        fields[argument.arg] = models.field(where, argument.annotation, default, about)
    classes = tuple(models.pydantic())
    for node in classes:
        models.get(node.name)  # also those that the function makes itself
    arguments = arguments_model(name, fields)
    parameters = written_out(arguments.model_json_schema())
    schema = {"name": name, "description": description, "parameters": parameters}
    if (length := len(json.dumps(schema))) > LONGEST_SCHEMA:
        raise SourceError(
            f"The schema of {name} would have {length:,} characters; at most {LONGEST_SCHEMA:,} are"
            " allowed. Shorten the docstring, the defaults or the types."
        )
    return Definition(name, description, arguments, schema, tuple(hidden), classes)


def _parameters(function: ast.FunctionDef) -> list[tuple[ast.arg, ast.expr | None]]:
    """Each parameter with its default, if it has one."""
    signature = function.args
    if signature.vararg or signature.kwarg or signature.posonlyargs:
        raise SourceError(
            f"{function.name} takes *, ** or / arguments; a model passes each by its name.",
            function.lineno,
        )
    defaults = [None] * (len(signature.args) - len(signature.defaults)) + list(signature.defaults)
    parameters = [*zip(signature.args, defaults, strict=True)]
    parameters += zip(signature.kwonlyargs, signature.kw_defaults, strict=True)
    for argument, _ in parameters:
        if argument.arg.startswith("_"):
            raise SourceError(
                f"The argument '{argument.arg}' of {function.name} starts with '_';"
                " give it another name.",
                argument.lineno,
            )
    return parameters


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
                raise SourceError(
                    f"{name} contains itself, which JSON arguments cannot.", self.nodes[name].lineno
                )
            return self.models[name]
        node = self.nodes.get(name)
        if node is None or not (is_pydantic(node) or is_dataclass(node)):
            return None
        self.models[name] = None
        fields = {}
        _, described = read_docstring(ast.get_docstring(node, clean=False) or "")
        for field, annotation, default in fields_of(node):
            where = f"the field '{field}' of {name}"
            fields[field] = self.field(where, annotation, default, described.get(field))
        self.models[name] = arguments_model(name, fields)
        return self.models[name]

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
            raise SourceError(
                f"The default of {where} is {default!r}, which is not of the type"
                f" {ast.unparse(annotation)}.",
                annotation.lineno,
            ) from None
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
            raise AnnotationError(f"the default_factory must be one of: {', '.join(FACTORIES)}")
        return FACTORIES[named(factory)]
    return constant(default["default"])


def is_pydantic(node: ast.ClassDef) -> bool:
    return any(named(base) == "BaseModel" for base in node.bases)


def is_dataclass(node: ast.ClassDef) -> bool:
    return any(named(decorator) == "dataclass" for decorator in node.decorator_list)


def arguments_model(name: str, fields: dict[str, Any]) -> type[BaseModel]:
    """A model with these fields; SourceError where pydantic can make none."""
    try:
        return create_model(name, __config__=CONFIG, **fields)
    except Exception as error:  # names and types that the tool's author chose
        raise SourceError(f"The arguments of {name} cannot be checked: {error}.") from None


def written_out(schema: dict[str, Any]) -> dict[str, Any]:
    """A JSON schema with each definition where it is used, and without the titles pydantic adds."""
    definitions = schema.pop("$defs", {})
    parts = 0

    def plain(node: Any, depth: int = 0, names: bool = False) -> Any:
        nonlocal parts
        parts += 1
        if parts > LARGEST_SCHEMA or depth > DEEPEST_SCHEMA:
            raise SourceError("The arguments have too many parts; use fewer or simpler types.")
        if isinstance(node, list):
            return [plain(each, depth + 1) for each in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node and not names:
            rest = {key: value for key, value in node.items() if key != "$ref"}
            referred = definitions[node["$ref"].removeprefix("#/$defs/")]
            return plain(referred, depth) | plain(rest, depth)
        return {
            key: value
            if key == "default" and not names
            else plain(value, depth + 1, key == "properties" and not names)
            for key, value in node.items()
            if key != "title" or names
        }

    written: dict[str, Any] = plain(schema)
    return written
