"""Types and defaults as they are written in a source, read without running it."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from types import NoneType
from typing import Any, Literal, Optional, Union

from django.utils.translation import gettext, gettext_noop

PLAIN: dict[str, Any] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "Any": Any,
    "object": Any,
    "list": list[Any],
    "List": list[Any],
    "dict": dict[str, Any],
    "Dict": dict[str, Any],
    "None": NoneType,
}
KNOWN = gettext_noop(
    "str, int, float, bool, Any, Optional, Union, Literal, List, Dict,"
    " and classes of this source that are a BaseModel or a dataclass"
)


class SourceError(ValueError):
    """Why a source cannot be a tool, in a sentence for whoever wrote it.

    `line` is where, counted from 1; 0 where it is no line in particular.
    """

    def __init__(self, sentence: str, line: int = 0) -> None:
        super().__init__(sentence)
        self.line = line


class AnnotationError(Exception):
    """What is wrong with a type or a default; whoever catches it adds whose it is."""


def type_of(node: ast.expr, model: Callable[[str], Any]) -> Any:
    """The type that an annotation names; `model(name)` is the class of that name, or None.

    Raises AnnotationError where the annotation names no type that JSON can carry.
    """
    if isinstance(node, ast.Constant) and node.value is None:
        return NoneType
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return type_of(_parsed(node.value), model)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return Union[type_of(node.left, model), type_of(node.right, model)]  # noqa: UP007
    if isinstance(node, ast.Subscript):
        return _parametrised(node, model)
    name = named(node)
    known = PLAIN.get(name) or model(name)
    if known is None:
        raise not_supported(node)
    return known


def not_supported(node: ast.expr) -> AnnotationError:
    words = gettext("the type %(type)s is not supported; use %(known)s")
    return AnnotationError(words % {"type": ast.unparse(node), "known": gettext(KNOWN)})


def _parametrised(node: ast.Subscript, model: Callable[[str], Any]) -> Any:
    """The type that an annotation with brackets names."""
    name = named(node.value)
    given = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name == "Literal" and given:
        values = tuple(constant(value) for value in given)
        if not all(isinstance(value, str | int | bool | None) for value in values):
            raise AnnotationError(
                gettext("a Literal is made of strings, whole numbers, True, False and None")
            )
        return Literal[values]
    if name == "Annotated" and given:
        return type_of(given[0], model)
    inner = [type_of(each, model) for each in given]
    if name == "Optional" and len(inner) == 1:
        return Optional[inner[0]]  # noqa: UP045
    if name == "Union" and inner:
        return Union[tuple(inner)]  # noqa: UP007
    if name in ("list", "List", "Sequence") and len(inner) == 1:
        return list[inner[0]]  # type: ignore[valid-type]
    if name in ("dict", "Dict", "Mapping") and len(inner) == 2:
        if inner[0] is not str:
            words = gettext("the keys of %(type)s must be str, as in JSON")
            raise AnnotationError(words % {"type": ast.unparse(node)})
        return dict[str, inner[1]]  # type: ignore[valid-type]
    raise not_supported(node)


def named(node: ast.expr) -> str:
    """The last part of a name: `Optional` of `typing.Optional`; "" of anything else."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript | ast.Call):
        return named(node.value if isinstance(node, ast.Subscript) else node.func)
    return node.id if isinstance(node, ast.Name) else ""


def constant(node: ast.expr) -> Any:
    """The value of a constant expression; AnnotationError for one that would have to be run."""
    try:
        value = ast.literal_eval(node)
        json.dumps(value, allow_nan=False)
        return value
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        words = gettext(
            "%(expression)s is not a constant; write a string, a number, True, False, None,"
            " a list or a dict of these"
        )
        raise AnnotationError(words % {"expression": ast.unparse(node)}) from None


def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        words = gettext("the type '%(type)s' is not a Python expression")
        raise AnnotationError(words % {"type": text}) from None
