"""A tool from its source: name, description and schema are read off, nothing is run."""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Optional

from django.utils.translation import gettext
from pydantic import BaseModel

from agents.models.tool import LONGEST_SOURCE, Tool
from agents.text.numbers import whole

from ..tool import HEARTBEAT
from .annotations import SourceError
from .classes import Models
from .docstring import read_docstring
from .schemas import (
    SchemaError,
    SchemaTypes,
    arguments_model,
    given_parameters,
    written_out,
)

LONGEST_SCHEMA = 50_000  # characters of JSON
HIDDEN = ("agent_state", "self", HEARTBEAT)  # what a function may take that no model fills in


@dataclass(frozen=True)
class Definition:
    """What a source defines: a function to call, and the classes its arguments are made of."""

    name: str
    description: str
    arguments: type[BaseModel]
    schema: dict[str, Any]
    hidden: tuple[str, ...]  # those of HIDDEN that the function takes
    classes: tuple[ast.ClassDef, ...]  # the source's subclasses of BaseModel
    made: tuple[ast.ClassDef, ...] = ()  # classes that only the schema of a script knows
    defaulted: frozenset[str] = frozenset()  # arguments with a default that is the function's own


def read_tool(tool: Tool) -> Definition:
    """What a stored tool defines, by its source and by what a script said of it."""
    given = [tool.given_schema, tool.given_description]
    return read_source(tool.source, tool.name, json.dumps(given) if any(given) else "")


@lru_cache(maxsize=256)
def read_source(source: str, name: str = "", given: str = "") -> Definition:
    """Read the function called `name`, else the last public one; SourceError says what is wrong.

    `given` is JSON: the schema of the arguments and the description that a script sent.
    """
    if len(source) > LONGEST_SOURCE:
        words = gettext("The source has %(count)s characters; at most %(most)s are allowed.")
        raise SourceError(words % {"count": whole(len(source)), "most": whole(LONGEST_SOURCE)})
    try:
        tree = ast.parse(source)
        compile(tree, "<tool>", "exec", dont_inherit=True)  # what the parser lets pass
        return _definition(tree, _function(tree, name), *json.loads(given or "[null, null]"))
    except SyntaxError as error:
        if error.lineno:
            words = gettext("The source is not Python: %(error)s in line %(line)s.")
        else:
            words = gettext("The source is not Python: %(error)s.")
        named = {"error": error.msg, "line": error.lineno}
        raise SourceError(words % named, error.lineno or 0) from None
    except (RecursionError, MemoryError):
        words = gettext("The source is nested too deeply to be read; split it up.")
        raise SourceError(words) from None
    except ValueError as error:
        if isinstance(error, SourceError):
            raise
        words = gettext("The source is not Python: %(error)s.") % {"error": error}
        raise SourceError(words) from None


def _function(tree: ast.Module, name: str) -> ast.FunctionDef:
    """The function to call."""
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    public = [n for n in functions if n.name == name or not (name or n.name.startswith("_"))]
    if not public:
        if name:
            words = gettext(
                "The source has no function '%(name)s'; write one as 'def name(…):' at its top."
            )
        else:
            words = gettext(
                "The source has no public function; write one as 'def name(…):' at its top."
            )
        raise SourceError(words % {"name": name})
    function = public[-1]
    if isinstance(function, ast.AsyncFunctionDef):
        words = gettext("%(name)s is async; write 'def', not 'async def'.")
        raise SourceError(words % {"name": function.name}, function.lineno)
    return function


def _definition(
    tree: ast.Module, function: ast.FunctionDef, given: dict[str, Any] | None, said: str | None
) -> Definition:
    name = function.name
    documented, described = read_docstring(ast.get_docstring(function, clean=False) or "")
    description = said or documented or (f"The {name} tool" if given else "")
    if not description:
        words = gettext("%(name)s has no docstring that says what it does; the model needs one.")
        raise SourceError(words % {"name": name}, function.lineno)
    models, parameters = Models(tree), _parameters(function)
    hidden = tuple(argument.arg for argument, _ in parameters if argument.arg in HIDDEN)
    shown = [each for each in parameters if each[0].arg not in HIDDEN]
    if given:
        read = _given(name, models, shown, given)
    else:
        fields = {
            argument.arg: _field(name, models, argument, default, described)
            for argument, default in shown
        }
        read = Read(arguments_model(name, fields))
    classes = tuple(models.pydantic())
    for node in classes:
        models.get(node.name)  # also those that the function makes itself
    schema = {
        "name": name,
        "description": description,
        "parameters": read.parameters or written_out(read.arguments.model_json_schema()),
    }
    if (length := len(json.dumps(schema))) > LONGEST_SCHEMA:
        words = gettext(
            "The schema of %(name)s would have %(count)s characters; at most %(most)s are allowed."
            " Shorten the docstring, the defaults or the types."
        )
        counts = {"count": whole(length), "most": whole(LONGEST_SCHEMA)}
        raise SourceError(words % {"name": name, **counts})
    return Definition(
        name, description, read.arguments, schema, hidden, classes, read.made, read.defaulted
    )


Parameter = tuple[ast.arg, ast.expr | None]


class Read(NamedTuple):
    """The arguments of a function, and what `Definition` keeps of a schema that was sent."""

    arguments: type[BaseModel]
    parameters: dict[str, Any] | None = None
    made: tuple[ast.ClassDef, ...] = ()
    defaulted: frozenset[str] = frozenset()


def _field(
    name: str,
    models: Models,
    argument: ast.arg,
    default: ast.expr | None,
    described: dict[str, str],
) -> tuple[Any, Any]:
    """An argument as the source alone has it."""
    named = {"argument": argument.arg, "name": name}
    if argument.annotation is None:
        words = gettext(
            "The type of the argument '%(argument)s' of %(name)s is missing; write"
            " '%(argument)s: str'."
        )
        raise SourceError(words % named, argument.lineno)
    if argument.arg not in described:
        words = gettext(
            "The docstring does not describe the argument '%(argument)s' of %(name)s; do so under"
            " 'Args:', as in '%(argument)s (%(type)s): what it is'."
        )
        named["type"] = ast.unparse(argument.annotation)
        raise SourceError(words % named, argument.lineno)
    where = gettext("the argument '%(argument)s' of %(name)s") % named
    return models.field(where, argument.annotation, default, described[argument.arg])


def _given(name: str, models: Models, parameters: list[Parameter], given: dict[str, Any]) -> Read:
    """The arguments as a script's schema has them; classes of the source stay what they are."""
    schema = given_parameters(given, HIDDEN)
    properties, required = schema["properties"], schema["required"]
    types = SchemaTypes({name, *models.nodes})
    fields: dict[str, Any] = {}
    for argument, default in parameters:
        if argument.arg not in properties and default is None:
            words = gettext(
                "The schema does not have the argument '%(argument)s', which %(name)s needs."
            )
            raise SchemaError(words % {"argument": argument.arg, "name": name})
        if argument.arg in properties:
            about = properties[argument.arg]
            kind = models.of(argument.annotation) or types.of(about, argument.arg)
            start = about.get("default") if isinstance(about, dict) else None
            fields[argument.arg] = (
                (kind, ...) if argument.arg in required else (Optional[kind], start)  # noqa: UP045
            )
    if unknown := [each for each in properties if each not in fields]:
        words = gettext("The schema has the argument '%(argument)s', which %(name)s does not take.")
        raise SchemaError(words % {"argument": unknown[0], "name": name})
    defaulted = frozenset(argument.arg for argument, default in parameters if default is not None)
    return Read(arguments_model(name, fields), schema, tuple(types.nodes), defaulted)


def _parameters(function: ast.FunctionDef) -> list[tuple[ast.arg, ast.expr | None]]:
    """Each parameter with its default, if it has one."""
    signature = function.args
    if signature.vararg or signature.kwarg or signature.posonlyargs:
        words = gettext("%(name)s takes *, ** or / arguments; a model passes each by its name.")
        raise SourceError(words % {"name": function.name}, function.lineno)
    defaults = [None] * (len(signature.args) - len(signature.defaults)) + list(signature.defaults)
    parameters = [*zip(signature.args, defaults, strict=True)]
    parameters += zip(signature.kwonlyargs, signature.kw_defaults, strict=True)
    for argument, _ in parameters:
        if argument.arg.startswith("_"):
            words = gettext(
                "The argument '%(argument)s' of %(name)s starts with '_'; give it another name."
            )
            named = {"argument": argument.arg, "name": function.name}
            raise SourceError(words % named, argument.lineno)
    return parameters
