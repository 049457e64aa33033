"""The tools that come with memoryweb. They have no row; their ids are made from their names."""

from __future__ import annotations

from functools import cache
from uuid import UUID

from agents import tools
from agents.memory.classes import CLASSES
from agents.models.tool import LONGEST_RETURN
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


MULTI_AGENT = "letta_multi_agent_core"  # the family of the tools with which agents talk


@cache
def built_in_tools() -> dict[str, ToolState]:
    """The shared tools and the methods of memory classes, by name. The states are shared too."""
    found = {name: tools.get(name) for name in tools.names()}
    for memory_class in CLASSES.values():
        found = method_tools(memory_class) | found
    return {name: built_in_state(tool) for name, tool in found.items()}


@cache
def fixed_names() -> frozenset[str]:
    """Those of them that go before a person's own tool of the same name."""
    return frozenset(built_in_tools()) - ({*tools.names()} - {*tools.reserved()})


def built_in_state(tool: tools.Tool) -> ToolState:
    return ToolState.model_validate(
        {
            "id": ids.built_in(tool.name),
            "name": tool.name,
            "tool_type": tool.family,
            "description": tool.description,
            "json_schema": tool.schema,
            "return_char_limit": LONGEST_RETURN,
            "metadata_": {"not_set_up": why} if (why := tool.missing()) else {},
        }
    )


@cache
def names_by_id() -> dict[UUID, str]:
    """The name of each tool, by the UUID in its id."""
    return {ids.built_in(name): name for name in built_in_tools()}
