"""Agent types: the tools, rules and prompt that an agent of each type begins with.

As Letta 0.16.8 gave them. Where a script names no type, the agent is as the notebooks of Letta's
first API have it: `send_message`, archival memory and core memory in tools of MemGPT's names.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from agents.memory.prompts import SYSTEM_PROMPT
from agents.tools.rules import Rule

from .built_in_tools import BASE_TOOLS, built_in_tools

SPEAKS_BY_TOOL = (
    f"{SYSTEM_PROMPT}\n\nThe person hears you only through the tool send_message: say everything"
    " with it. After another tool you get a further step only if you ask for a heartbeat."
)
WITHOUT_MEMORY = "You are a helpful assistant. Use the tools you have wherever they help."
FORGETS = f"{WITHOUT_MEMORY} Each message is a task by itself: you do not see the ones before it."
KEEPS_MEMORY = (
    "You keep the memory of an assistant in order. You are given what was said; put what is worth"
    " keeping into the blocks of core memory, correct what turned out to be wrong, and remove what"
    " is said twice. When nothing is left to change, say in one sentence what you did."
)


class Start(NamedTuple):
    """What an agent of a type begins with; `prompt`: None where its tools decide."""

    tools: Sequence[str]
    prompt: str | None = None
    forgets: bool = False
    rules: bool = True  # base rules, unless a script says whether it wants them


STARTS: dict[str | None, Start] = {
    None: Start(BASE_TOOLS, rules=False),
    "memgpt_agent": Start(
        [
            *("send_message", "conversation_search", "core_memory_append", "core_memory_replace"),
            *("memory", "memory_apply_patch"),
        ]
    ),
    "memgpt_v2_agent": Start(
        ["send_message", "conversation_search", "memory_insert", "memory_replace"]
    ),
    "letta_v1_agent": Start(["conversation_search", "memory_insert", "memory_replace"]),
    "react_agent": Start([], WITHOUT_MEMORY),
    "workflow_agent": Start([], FORGETS, forgets=True),
    "sleeptime_agent": Start(
        ["memory_replace", "memory_insert", "memory_rethink", "memory_finish_edits"], KEEPS_MEMORY
    ),
}
WHILE_REFLECTING = ("conversation_search", "archival_memory_search")
ENDING = ("send_message", "send_message_to_agent_async", "memory_finish_edits")
GOING_ON = (
    *("conversation_search", "archival_memory_insert", "archival_memory_search"),
    *("core_memory_append", "core_memory_replace", "memory", "memory_apply_patch"),
    *("memory_replace", "memory_insert", "memory_rethink"),
)


def base_tools(agent_type: str | None, *, reflects: bool = False) -> list[str]:
    """The tools of a type; `reflects`: its memory is kept by reflections, not while it talks."""
    tools = STARTS[agent_type].tools
    if reflects and agent_type != "sleeptime_agent":
        spoken = agent_type != "letta_v1_agent"
        tools = [*(["send_message"] if spoken else []), *WHILE_REFLECTING]
    return [name for name in tools if name in built_in_tools()]


def base_rules(
    agent_type: str | None, tools: Collection[str], given: Sequence[Any], wanted: bool | None
) -> list[Rule]:
    """The rules that go with tools beside those a script gave.

    `wanted`: whether a script asked for them; None where it did not say.
    """
    if wanted is None:
        plain = agent_type == "letta_v1_agent" and not given
        wanted = STARTS[agent_type].rules and not plain
    if not wanted:
        return []
    kinds = dict.fromkeys(GOING_ON, "continue_loop") | dict.fromkeys(ENDING, "exit_loop")
    rules = [{"tool_name": name, "type": kinds[name]} for name in tools if name in kinds]
    return [rule for rule in rules if not any(is_same(rule, each) for each in given)]


def is_same(rule: Rule, given: Any) -> bool:
    return bool(rule.items() <= given.items())


def prompt_for(agent_type: str | None, tools: Collection[str]) -> str:
    """The system prompt of a type."""
    prompt = STARTS[agent_type].prompt
    return prompt or (SPEAKS_BY_TOOL if "send_message" in tools else SYSTEM_PROMPT)
