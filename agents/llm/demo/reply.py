"""What the demo model answers with: a text, or tool calls made with the tools there are."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .commands import LONG
from .edits import Edit
from .turn import HEARTBEAT, Call, Json, Turn

REPLACE = {
    "core_memory_replace": ("label", "old_content", "new_content"),
    "memory_replace": ("label", "old_string", "new_string"),
}
APPEND = {
    "core_memory_append": ("label", "content"),
    "memory_insert": ("label", "new_string"),
    "core_memory_save": ("section", "memory"),
}
REWRITE = {"memory_rethink": ("label", "new_memory")}


@dataclass(frozen=True)
class Reply:
    """What the model answers: text or tool calls or both, and perhaps its reasoning before."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    reasoning: str = ""


def call(turn: Turn, name: str, **arguments: Any) -> Call:
    """A call with the arguments under the tool's own names for its parameters."""
    parameters = [each for each in turn.tools.get(name, []) if each != HEARTBEAT]
    known = not parameters or arguments.keys() <= set(parameters)
    made: Json = arguments if known else dict(zip(parameters, arguments.values(), strict=False))
    if HEARTBEAT in turn.tools.get(name, []):
        made = made | {HEARTBEAT: name != "send_message"}
    return Call(name, made)


def call_for(turn: Turn, edit: Edit) -> Call | None:
    """The tool call that makes an edit with the tools there are."""
    if edit.old and (made := first_of(turn, REPLACE, (edit.block, edit.old, edit.new))):
        return made
    if not edit.new:
        return None
    if len(edit.new) > LONG and "archival_memory_insert" in turn.tools:
        return call(turn, "archival_memory_insert", content=edit.new)
    return first_of(turn, APPEND, (edit.block, edit.new))


def rewriting(turn: Turn, label: str, new: str) -> Call | None:
    """The tool call that gives a block a new value."""
    texts = (label, turn.memory[label], new)
    return first_of(turn, REWRITE, (label, new)) or first_of(turn, REPLACE, texts)


def first_of(turn: Turn, tools: Mapping[str, tuple[str, ...]], texts: Iterable[str]) -> Call | None:
    """A call of the first of these tools that is offered."""
    for name, parameters in tools.items():
        if name in turn.tools:
            return call(turn, name, **dict(zip(parameters, texts, strict=True)))
    return None
