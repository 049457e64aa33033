"""Letta's names: all of them can be an agent's tools; those that do not work here say so."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from agents import tools
from agents.models import Agent, Tool
from agents.tools import Caller, ToolError, attaching
from agents.tools.custom import CustomTool

# LETTA_TOOL_SET of letta 0.16.8 with the types that its server gives them.
LETTA = {
    "letta_core": {
        *("send_message", "conversation_search"),
        *("archival_memory_insert", "archival_memory_search"),
    },
    "letta_memory_core": {
        *("core_memory_append", "core_memory_replace", "memory", "memory_apply_patch")
    },
    "letta_sleeptime_core": {
        *("memory_replace", "memory_insert", "memory_rethink", "memory_finish_edits")
    },
    "letta_multi_agent_core": {
        *("send_message_to_agent_and_wait_for_reply", "send_message_to_agents_matching_tags"),
        "send_message_to_agent_async",
    },
    "letta_voice_sleeptime_core": {
        *("store_memories", "rethink_user_memory", "finish_rethinking_memory", "search_memory")
    },
    "letta_builtin": {"run_code", "run_code_with_tools", "web_search", "fetch_webpage"},
    "letta_files_core": {"open_files", "grep_files", "semantic_search_files"},
}
WEB_SEARCH = '''
def web_search(query: str) -> str:
    """Search.

    Args:
        query (str): What.
    """
    return f"Mine: {query}"
'''


def test_every_tool_of_letta_is_here_with_its_type() -> None:
    families: dict[str, set[str]] = {}
    for name in tools.names():
        families.setdefault(tools.get(name).family, set()).add(name)

    families["letta_memory_core"].discard("core_memory_save")  # of a notebook, not Letta's
    assert families == LETTA


def arguments_for(name: str) -> dict[str, Any]:
    """Something for each argument that must be given."""
    schema = tools.get(name).schema["parameters"]
    samples = {"string": "x", "array": []}
    return {
        name: samples[schema["properties"][name]["type"]] for name in schema.get("required", [])
    }


@pytest.mark.parametrize("name", [n for n in tools.names() if tools.get(n).missing()])
def test_a_placeholder_says_to_the_model_that_it_is_not_set_up(name: str, caller: Caller) -> None:
    with pytest.raises(ToolError, match="not set up on this server"):
        tools.get(name).call(caller, arguments_for(name))


def test_a_placeholder_can_be_attached_by_its_name(agent: Agent) -> None:
    attaching.attach(agent, "grep_files")

    agent.refresh_from_db()
    assert "grep_files" in tools.of_agent(agent)


def test_a_persons_own_tool_goes_before_one_that_yields(agent: Agent, alice: User) -> None:
    agent.configure(tools=["web_search", "memory"])
    assert not isinstance(tools.of_agent(agent)["web_search"], CustomTool)

    Tool.from_source(alice, WEB_SEARCH)

    found = tools.of_agent(agent)
    assert list(found) == ["web_search", "memory"]
    assert isinstance(found["web_search"], CustomTool)
    assert not isinstance(found["memory"], CustomTool)
