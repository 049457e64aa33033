"""What the sandbox runs: the tool's source as it stands, then the call of its function.

The sandbox's Python has no subclasses. A source's BaseModels, which an argument may be made of,
are therefore classes without a base there, given what a tool needs of a BaseModel afterwards.
"""

from __future__ import annotations

import ast
from typing import Any

from pydantic import BaseModel

from .classes import default_of, field_settings, fields_of
from .source import Definition

# How a returned value becomes text is `outcome.as_text`'s business; here it is made small enough
# to come out of the sandbox.
RETURN = """
import json as _json
_value = {call}
if isinstance(_value, dict):
    try:
        _value = _json.dumps(_value, ensure_ascii=False)
    except Exception:
        _value = str(_value)
elif not isinstance(_value, str):
    _value = str(_value)
(_value[:{limit}], len(_value))
"""
PLAIN = """
def _plain(value):
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return value.model_dump() if hasattr(value, 'model_dump') else value
def _json_of(self):
    import json
    return json.dumps(self.model_dump(), ensure_ascii=False)
_unset = ['unset']
"""


def program(
    source: str, definition: Definition, arguments: dict[str, Any], limit: int
) -> tuple[str, dict[str, Any]]:
    """The code, and the variables it starts with. Its value is the text returned and its length."""
    inputs: dict[str, Any] = {}
    given = [f"{name}={spelled(value, inputs)}" for name, value in arguments.items()]
    given += [
        f"{name}={'False' if name == 'request_heartbeat' else '_agent_state'}"
        for name in definition.hidden
    ]
    call = f"{definition.name}({', '.join(given)})"
    parts = [without_bases(source, definition.classes)]
    parts += [f"class {node.name}:\n    pass" for node in definition.made]
    if classes := (*definition.classes, *definition.made):
        parts += [PLAIN, *(completed(node) for node in classes)]
    return "\n".join([*parts, RETURN.format(call=call, limit=limit)]), inputs


def spelled(value: Any, inputs: dict[str, Any]) -> str:
    """An expression for an argument; what is no model of the source becomes a variable."""
    if isinstance(value, BaseModel):
        given = [f"{name}={spelled(each, inputs)}" for name, each in value]
        return f"{type(value).__name__}({', '.join(given)})"
    if isinstance(value, list) and holds_model(value):
        return f"[{', '.join(spelled(each, inputs) for each in value)}]"
    if isinstance(value, dict) and holds_model(list(value.values())):
        items = (f"{key!r}: {spelled(each, inputs)}" for key, each in value.items())
        return f"{{{', '.join(items)}}}"
    name = f"_argument_{len(inputs)}"
    inputs[name] = value
    return name


def holds_model(values: list[Any]) -> bool:
    return any(
        isinstance(each, BaseModel)
        or (isinstance(each, list) and holds_model(each))
        or (isinstance(each, dict) and holds_model(list(each.values())))
        for each in values
    )


def without_bases(source: str, classes: tuple[ast.ClassDef, ...]) -> str:
    """The source with spaces for the bases of these classes: every line stays where it was."""
    lines = source.replace("\r\n", "\n").replace("\r", "\n").encode().split(b"\n")
    for node in classes:
        first, last = node.bases[0], (node.keywords[-1].value if node.keywords else node.bases[-1])
        for number in range(first.lineno - 1, (last.end_lineno or first.lineno)):
            line = lines[number]
            start = first.col_offset if number == first.lineno - 1 else 0
            end = last.end_col_offset if number + 1 == last.end_lineno else len(line.rstrip())
            rest = line[end:]
            if number + 1 == last.end_lineno and rest.lstrip().startswith(b","):
                rest = rest.replace(b",", b" ", 1)
            lines[number] = line[:start] + b" " * ((end or 0) - start) + rest
    return b"\n".join(lines).decode()


def completed(node: ast.ClassDef) -> str:
    """What makes a class without a base serve as a BaseModel: `__init__`, `model_dump`."""
    names, parameters, body = [], [], []
    for name, _, value in fields_of(node):
        given, _ = field_settings(value)
        names.append(name)
        if given:
            default = repr(default_of(given))
            parameters.append(f"{name}=_unset")
            body.append(f"    self.{name} = {default} if {name} is _unset else {name}\n")
        else:
            parameters.append(name)
            body.append(f"    self.{name} = {name}\n")
    me = node.name
    takes = f"self, *, {', '.join(parameters)}" if parameters else "self"
    return (
        f"def _init_{me}({takes}):\n{''.join(body) or '    pass'}\n"
        f"{me}.__init__ = _init_{me}\n"
        f"def _dump_{me}(self):\n"
        f"    return {{name: _plain(getattr(self, name)) for name in {names!r}}}\n"
        f"{me}.model_dump = {me}.dict = _dump_{me}\n"
        f"{me}.model_dump_json = {me}.json = _json_of\n"
    )
