"""Tools: what an agent can do besides talking. A tool family is a file in this package."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, NamedTuple

from agents.memory.classes import CLASSES, Memory
from agents.models import Agent, Run

from . import archival, core_memory, messaging, recall
from .custom import own_tools
from .memory_methods import method_tools
from .rules import Rules
from .tool import HEARTBEAT, Caller, Tool, ToolError, arguments_of, get, names

__all__ = [
    "HEARTBEAT",
    "Caller",
    "Offered",
    "Rules",
    "Tool",
    "ToolError",
    "archival",
    "arguments_of",
    "core_memory",
    "get",
    "messaging",
    "names",
    "of_agent",
    "of_run",
    "offered",
    "recall",
    "rules_of",
    "schemas",
    "speaks_by_tool",
]

ENDING = frozenset(name for name in names() if get(name).ends_turn)
LONGEST_DESCRIPTION = 1024  # characters of a tool's that OpenAI takes


def speaks_by_tool(agent: Agent) -> bool:
    """MemGPT style: the agent talks with a tool, and asks for further steps by a heartbeat."""
    return "send_message" in agent.tools


def of_agent(agent: Agent) -> dict[str, Tool]:
    """The agent's tools in its order: built in, methods of its memory class, its owner's own.

    The database is asked only for names that are neither of the first two.
    """
    found = {name: get(name) for name in agent.tools if name in names()}
    if len(found) < len(set(agent.tools)):
        methods = method_tools(CLASSES.get(agent.memory_class, Memory))
        found |= {name: methods[name] for name in agent.tools if name in methods} | found
    if others := [name for name in agent.tools if name not in found]:
        found |= own_tools(agent, others)
    return {name: found[name] for name in agent.tools if name in found}


class Offered(NamedTuple):
    """The tools that may be called in a step; `bound`: one of them must be."""

    tools: list[Tool]
    bound: bool = False


def of_run(run: Run) -> dict[str, Tool]:
    """The tools that a run may use: the agent's; in a reflection, those that edit core memory."""
    if run.kind == run.Kind.REFLECTION:
        return {name: get(name) for name in core_memory.EDITING}
    return of_agent(run.agent)


def rules_of(run: Run) -> Rules:
    """The rules that hold in a run: the agent's; in a reflection, those about approval only."""
    rules = run.agent.tool_rules
    if run.kind == run.Kind.REFLECTION:
        rules = [rule for rule in rules if rule["type"] == "requires_approval"]
    ending = ENDING if run.kind != run.Kind.REFLECTION else ()
    return Rules(rules, lambda: last_return(run), ending)


def last_return(run: Run) -> str:
    """What the tool returned that the run called last with success."""
    for step in reversed(run.taken):
        returns = step.returns()
        for call in reversed(step.message.calls() if step.message else []):
            if call.id in returns and not returns[call.id].is_error:
                approval = step.approval(call.id)
                return returns[call.id].content.removeprefix(approval.note if approval else "")
    return ""


def offered(run: Run) -> Offered:
    """What may be called in the next step of a run."""
    tools, rules = of_run(run), rules_of(run)
    if not rules.rules:
        return Offered(list(tools.values()))
    called = run.called()
    names = rules.offered(list(tools), called)
    return Offered([tools[name] for name in names], rules.must_call(called))


def schemas(tools: Iterable[Tool], *, heartbeat: bool = False) -> list[dict[str, Any]]:
    """Tools as the model is told of them; with `heartbeat` it says whether it wants another step.

    It has to say so, as in MemGPT and Letta: models leave out what they may leave out.
    """
    told = []
    for tool in tools:
        function = tool.schema
        if len(said := function.get("description", "")) > LONGEST_DESCRIPTION:
            function = function | {"description": f"{said[: LONGEST_DESCRIPTION - 1]}…"}
        if heartbeat and not tool.ends_turn:
            function = copy.deepcopy(function)
            parameters = function["parameters"]
            parameters["properties"][HEARTBEAT] = {
                "type": "boolean",
                "description": "True to be given one more step after this call.",
            }
            parameters["required"] = [*parameters.get("required", []), HEARTBEAT]
        told.append({"type": "function", "function": function})
    return told
