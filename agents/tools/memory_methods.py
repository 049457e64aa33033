"""The methods of memory classes as tools: those who run the server wrote them, so they run here."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from agents.memory.classes import Memory
from agents.models import Block, MemoryRefusal

from .custom.docstring import read_docstring
from .custom.outcome import as_text
from .custom.schemas import written_out
from .custom.source import HIDDEN
from .tool import Caller, Outcome, Tool, from_function

_tools_of: dict[type[Memory], dict[str, Tool]] = {}


def method_tools(memory_class: type[Memory]) -> dict[str, Tool]:
    """A tool for each of the class's methods; ImproperlyConfigured where one cannot be called."""
    if memory_class in _tools_of:
        return _tools_of[memory_class]
    tools = {}
    for name, method in memory_class.methods().items():
        try:
            tools[name] = _tool(memory_class, method)
        except Exception as error:  # names and types that the class's author chose
            raise ImproperlyConfigured(
                f"The method {name} of the memory class {memory_class.__name__} cannot be a tool:"
                f" {error}"
            ) from error
    _tools_of[memory_class] = tools
    return tools


def _tool(memory_class: type[Memory], method: Callable[..., Any]) -> Tool:
    @wraps(method)
    def call(caller: Caller, **arguments: Any) -> Outcome:
        return perform(memory_class, method, caller, arguments)

    me, *_ = method.__code__.co_varnames
    # The type of `self`, and of what comes back, may be a name that exists for the reader only.
    call.__annotations__ = {
        name: kind for name, kind in method.__annotations__.items() if name not in (me, "return")
    }
    tool = from_function(call)
    description, described = read_docstring(method.__doc__ or "")
    properties = tool.schema["parameters"]["properties"]
    for name in properties:
        if name in HIDDEN:
            raise ValueError(f"the argument '{name}' cannot be filled in by a model; leave it out")
        if name not in described:
            raise ValueError(f"its docstring does not describe the argument '{name}' under 'Args:'")
        properties[name]["description"] = described[name]
    schema = tool.schema | {
        "description": description,
        "parameters": written_out(tool.schema["parameters"]),
    }
    return Tool(tool.name, description, call, tool.arguments, schema=schema, of_memory=True)


def perform(
    memory_class: type[Memory],
    method: Callable[..., Any],
    caller: Caller,
    arguments: dict[str, Any],
) -> Outcome:
    """Call the method on the agent's blocks and write what it changed, in this transaction."""
    held = Block.objects.held_by(caller.agent).locked()
    memory = memory_class.holding(caller.agent.core_memory())
    returned = method(memory, **arguments)
    if new := memory.blocks.keys() - {block.label for block in held}:
        raise MemoryRefusal(
            f"The agent has no block {', '.join(repr(label) for label in sorted(new))}."
            " A person has to add it first."
        )
    values = [(block, memory.get_block(block.label).value) for block in held]
    return Outcome(as_text(returned), Block.objects.write_all(values, by=caller.editor))
