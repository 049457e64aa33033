"""Tools: what an agent can do besides talking. A tool family is a file in this package."""

from __future__ import annotations

import copy
from typing import Any

from agents.models import Agent

from . import core_memory, messaging
from .tool import HEARTBEAT, Caller, Tool, ToolError, arguments_of, get, names

__all__ = [
    "HEARTBEAT",
    "Caller",
    "Tool",
    "ToolError",
    "arguments_of",
    "core_memory",
    "get",
    "messaging",
    "names",
    "schemas",
    "speaks_by_tool",
]


def speaks_by_tool(agent: Agent) -> bool:
    """MemGPT style: the agent talks with a tool, and asks for further steps by a heartbeat."""
    return "send_message" in agent.tools


def schemas(agent: Agent) -> list[dict[str, Any]]:
    """The agent's tools as the model is told of them."""
    tools = []
    for name in agent.tools:
        if name not in names():
            continue
        tool = get(name)
        function = tool.schema
        if speaks_by_tool(agent) and not tool.ends_turn:
            function = copy.deepcopy(function)
            function["parameters"]["properties"][HEARTBEAT] = {
                "type": "boolean",
                "description": "True to be given one more step after this call.",
            }
        tools.append({"type": "function", "function": function})
    return tools
