"""The fields that each operation of `letta-client` can send, read off its types.

`.venv-sdk/1.12.1/bin/python tests/support/letta_fields.py` writes `letta_fields.json`, so that no
test needs the client in order to know them. A shape is a kind, the name of one of `types`, or what
it is made of: `{"list": shape}`, `{"one_of": values}`, `{"any": shapes}`.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import pkgutil
import re
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

FILE = Path(__file__).with_suffix(".json")
VERSION = "1.12.1"
METHODS = {
    "_get": "GET",
    "_get_api_list": "GET",
    "_post": "POST",
    "_put": "PUT",
    "_patch": "PATCH",
    "_delete": "DELETE",
}
PLAIN = {str: "text", int: "integer", float: "number", bool: "flag"}
UNIONS = ("typing.Union", "<class 'types.UnionType'>")
WRAPPED = ("typing.Required", "typing_extensions.Required")
Tree = dict[str, Any]
types: Tree = {}


def operations() -> Iterator[Tree]:
    """Each request of the client, with the shapes of the fields of its query and its body."""
    import letta_client.resources as resources  # not installed beside the tests

    for found in pkgutil.walk_packages(resources.__path__, f"{resources.__name__}."):
        module = importlib.import_module(found.name)
        for call in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(call, ast.Call) and (sent := request_of(call, module)):
                yield sent


def request_of(call: ast.Call, module: Any) -> Tree | None:
    """The request that a call of `self._post(…)` or the like makes."""
    function = call.func
    if not (isinstance(function, ast.Attribute) and function.attr in METHODS and call.args):
        return None
    path = path_of(call.args[0])
    if path is None:
        return None
    sent: Tree = {"path": path, "method": METHODS[function.attr]}
    for node in ast.walk(call):
        if isinstance(node, ast.keyword) and node.arg in ("body", "query"):
            sent[node.arg] = fields_of(node.value, module)
    return sent


def path_of(node: ast.expr) -> str | None:
    """The address, from a text or from `path_template("…", …)`."""
    if isinstance(node, ast.Call) and node.args:
        node = node.args[0]
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and "/v1/" in node.value:
        return re.sub(r"\{\w+\}", "{id}", node.value.removeprefix("/v1"))
    return None


def fields_of(node: ast.expr, module: Any) -> Tree:
    """The fields in `maybe_transform({…}, some_params.SomeParams)` by their names on the wire."""
    for call in ast.walk(node):
        if not (isinstance(call, ast.Call) and len(call.args) == 2):
            continue
        names, made = call.args
        made = made.body if isinstance(made, ast.IfExp) else made
        if isinstance(names, ast.Dict) and isinstance(made, ast.Attribute):
            assert isinstance(made.value, ast.Name)
            known = members(getattr(getattr(module, made.value.id), made.attr))
            sent = sorted(str(key.value) for key in names.keys if isinstance(key, ast.Constant))
            return {alias(name, known[name]): shape(known[name]) for name in sent}
    return {}


def members(kind: Any) -> Tree:
    """The fields of a TypedDict, or of all of a union."""
    if str(typing.get_origin(kind)) in UNIONS:
        return {
            name: each for part in typing.get_args(kind) for name, each in members(part).items()
        }
    return typing.get_type_hints(kind, include_extras=True)


def alias(name: str, kind: Any) -> str:
    """A field's name on the wire."""
    if str(typing.get_origin(kind)) in WRAPPED:
        return alias(name, typing.get_args(kind)[0])
    named = [getattr(each, "alias", None) for each in getattr(kind, "__metadata__", ())]
    return next(filter(None, named), name)


def shape(kind: Any) -> Any:
    """The shape of a type."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if typing.is_typeddict(kind) or hasattr(kind, "__required_keys__"):
        return named(kind)
    if hasattr(kind, "__metadata__") or str(origin) in WRAPPED:
        return shape(parts[0])
    if origin is Literal:
        return {"one_of": list(parts)}
    if origin is dict or kind is dict:
        return "object"
    if str(origin) in UNIONS:
        shapes = [shape(each) for each in parts if each is not type(None)]
        kept = [each for place, each in enumerate(shapes) if each not in shapes[:place]]
        return kept[0] if len(kept) == 1 else {"any": kept}
    return {"list": shape(parts[0])} if parts else PLAIN.get(kind, "text")


def named(kind: Any) -> str:
    """The name under which a TypedDict is in `types`."""
    name = f"{kind.__module__.removeprefix('letta_client.types.')}.{kind.__name__}"
    if name not in types:
        types[name] = {}
        known = sorted(members(kind).items())
        needed = [field for field, each in known if str(typing.get_origin(each)) in WRAPPED]
        fields = {alias(field, each): shape(each) for field, each in known}
        types[name] = {"fields": fields, "needed": needed}
    return name


def compact(document: Tree) -> str:
    """JSON with a line for each operation and each type."""
    rows = ",\n".join(json.dumps(each, sort_keys=True) for each in document["operations"])
    named = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(each, sort_keys=True)}"
        for name, each in sorted(document["types"].items())
    )
    version = json.dumps(document["version"])
    return f'{{"version": {version},\n"operations": [\n{rows}\n],\n"types": {{\n{named}\n}}}}\n'


if __name__ == "__main__":
    sent = {(each["method"], each["path"]): each for each in operations()}
    rows = [each for _, each in sorted(sent.items()) if each.get("body") or each.get("query")]
    document = {"version": VERSION, "operations": rows, "types": types}
    FILE.write_text(compact(document))
