"""Tools: what an agent can do besides talking. A tool family is a file in this package."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, NamedTuple

from agents.memory.classes import CLASSES, Memory
from agents.models import Agent

from . import archival, code, core_memory, memory_blocks, messaging, placeholders, recall, web
from .client import ClientTool, client_tools
from .custom import own_tools
from .memory_methods import method_tools
from .rules import Rules
from .tool import (
    HEARTBEAT,
    Caller,
    Outcome,
    Ready,
    Tool,
    ToolError,
    ToolFailure,
    arguments_of,
    failed,
    get,
    names,
    reserved,
)

__all__ = [
    "ENDING",
    "HEARTBEAT",
    "Caller",
    "ClientTool",
    "Offered",
    "Outcome",
    "Ready",
    "Rules",
    "Tool",
    "ToolError",
    "ToolFailure",
    "archival",
    "arguments_of",
    "client_tools",
    "code",
    "core_memory",
    "failed",
    "get",
    "memory_blocks",
    "messaging",
    "names",
    "of_agent",
    "placeholders",
    "recall",
    "reserved",
    "schemas",
    "speaks_by_tool",
    "web",
]

ENDING = frozenset(name for name in names() if get(name).ends_turn)
LONGEST_DESCRIPTION = 1024  # characters of a tool's that OpenAI takes


def speaks_by_tool(agent: Agent) -> bool:
    """MemGPT style: the agent talks with a tool, and asks for further steps by a heartbeat."""
    return "send_message" in agent.tools


def of_agent(agent: Agent) -> dict[str, Tool]:
    """The agent's tools in its order: built in, methods of its memory class, its owner's own; and
    last those built-in ones that yield to them. In a temporary chat, those that need no memory.

    The database is asked only for names that are neither of the first two.
    """
    fixed, all_names = reserved(), names()
    tools = {name: get(name) for name in agent.tools if name in fixed}
    if len(tools) < len(set(agent.tools)):
        methods = method_tools(CLASSES.get(agent.memory_class, Memory))
        tools |= {name: methods[name] for name in agent.tools if name in methods} | tools
    if others := [name for name in agent.tools if name not in tools]:
        tools |= own_tools(agent, others)
        tools |= {name: get(name) for name in others if name in all_names and name not in tools}
    return {
        name: tools[name]
        for name in agent.tools
        if name in tools and not (agent.is_temporary and tools[name].of_memory)
    }


class Offered(NamedTuple):
    """The tools that may be called in a step; `bound`: one of them must be."""

    tools: list[Tool]
    bound: bool = False


def schemas(tools: Iterable[Tool], *, heartbeat: bool = False) -> list[dict[str, Any]]:
    """Tools as the model gets them; with `heartbeat` it says whether it wants another step.

    It has to say so, as in MemGPT and Letta: models leave out what they may leave out.
    """
    listed = []
    for tool in tools:
        function = tool.schema
        if len(description := function.get("description", "")) > LONGEST_DESCRIPTION:
            description = f"{description[: LONGEST_DESCRIPTION - 1]}…"
            function = function | {"description": description}
        if heartbeat and tool.takes_heartbeat:
            function = copy.deepcopy(function)
            parameters = function["parameters"]
            parameters["properties"][HEARTBEAT] = {
                "type": "boolean",
                "description": "True to be given one more step after this call.",
            }
            parameters["required"] = [*parameters.get("required", []), HEARTBEAT]
        listed.append({"type": "function", "function": function})
    return listed
