"""The tools that come with memoryweb. They have no row; their ids are made from their names."""

from __future__ import annotations

from functools import cache
from uuid import UUID

from agents import tools
from agents.memory.classes import CLASSES
from agents.models.tool import LONGEST_RETURN
from agents.tools import core_memory
from agents.tools.memory_methods import method_tools

from . import ids
from .schemas.tools import ToolState

BASE_TOOLS = [
    "send_message",
    "conversation_search",
    "core_memory_append",
    "core_memory_replace",
    "archival_memory_insert",
    "archival_memory_search",
]


@cache
def built_in_tools() -> dict[str, ToolState]:
    """The shared tools and the methods of memory classes, by name. The states are shared too."""
    found = {name: tools.get(name) for name in tools.names()}
    for memory_class in CLASSES.values():
        found = method_tools(memory_class) | found
    return {name: built_in_state(tool) for name, tool in found.items()}


def built_in_state(tool: tools.Tool) -> ToolState:
    edits = tool.name in core_memory.EDITING or tool.name.startswith("core_memory")
    return ToolState.model_validate(
        {
            "id": ids.built_in(tool.name),
            "name": tool.name,
            "tool_type": "letta_memory_core" if edits else "letta_core",
            "description": tool.description,
            "json_schema": tool.schema,
            "return_char_limit": LONGEST_RETURN,
        }
    )


@cache
def names_by_id() -> dict[UUID, str]:
    """The name of each tool, by the UUID in its id."""
    return {ids.built_in(name): name for name in built_in_tools()}
