"""Letta's tools that do not exist here: an agent that names them keeps them, and is told so.

A person's own tool of one of these names goes before it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from .tool import Caller, Function, ToolError, tool

NOT_HERE = "This tool of Letta's is not set up on this server."


def placeholder(family: str) -> Callable[[Function], Function]:
    """Make a function's signature a tool that only says that it is not here."""

    def register(function: Function) -> Function:
        @wraps(function)
        def call(caller: Caller, **arguments: Any) -> str:
            raise ToolError(
                f"{function.__name__} is not set up on this server, so nothing was done. Do without"
                " it, and tell the person if they asked for it."
            )

        return tool(family=family, yields=True, missing=lambda: NOT_HERE)(call)

    return register


@placeholder("letta_builtin")
def run_code_with_tools(caller: Caller, code: str) -> str:
    """Run Python that can call the agent's tools.

    Args:
        code: The Python to run.
    """
    raise NotImplementedError


@placeholder("letta_multi_agent_core")
def send_message_to_agent_and_wait_for_reply(
    caller: Caller, message: str, other_agent_id: str
) -> str:
    """Send a message to another agent and wait for its answer.

    Args:
        message: What to say to it.
        other_agent_id: The id of the agent.
    """
    raise NotImplementedError


@placeholder("letta_multi_agent_core")
def send_message_to_agent_async(caller: Caller, message: str, other_agent_id: str) -> str:
    """Send a message to another agent without waiting for an answer.

    Args:
        message: What to say to it.
        other_agent_id: The id of the agent.
    """
    raise NotImplementedError


@placeholder("letta_multi_agent_core")
def send_message_to_agents_matching_tags(
    caller: Caller, message: str, match_all: list[str], match_some: list[str]
) -> str:
    """Send a message to all agents with certain tags, and wait for their answers.

    Args:
        message: What to say to them.
        match_all: Tags that an agent must have, all of them.
        match_some: Tags of which an agent must have one.
    """
    raise NotImplementedError


@placeholder("letta_files_core")
def open_files(
    caller: Caller, file_requests: list[dict[str, Any]], close_all_others: bool = False
) -> str:
    """Open files, so that their text is in the context.

    Args:
        file_requests: The files: objects with file_name and, if wanted, offset and length in lines.
        close_all_others: Whether to close all files that are open now.
    """
    raise NotImplementedError


@placeholder("letta_files_core")
def grep_files(
    caller: Caller,
    pattern: str,
    include: str | None = None,
    context_lines: int | None = 1,
    offset: int | None = None,
) -> str:
    """Find the lines of files that match a pattern.

    Args:
        pattern: A word or a regular expression.
        include: Only files with names that match this.
        context_lines: How many lines to show around a match.
        offset: How many matches to skip.
    """
    raise NotImplementedError


@placeholder("letta_files_core")
def semantic_search_files(caller: Caller, query: str, limit: int = 5) -> str:
    """Search the text of files by meaning.

    Args:
        query: What to look for.
        limit: How many results at most.
    """
    raise NotImplementedError


@placeholder("letta_voice_sleeptime_core")
def search_memory(
    caller: Caller,
    convo_keyword_queries: list[str] | None = None,
    start_minutes_ago: int | None = None,
    end_minutes_ago: int | None = None,
) -> str:
    """Search what was said and stored before, in a conversation by voice.

    Args:
        convo_keyword_queries: Further words to look for.
        start_minutes_ago: Only what is newer, in minutes.
        end_minutes_ago: Only what is older, in minutes.
    """
    raise NotImplementedError


@placeholder("letta_voice_sleeptime_core")
def store_memories(caller: Caller, chunks: list[dict[str, Any]]) -> str:
    """Store parts of a conversation that are about to leave the context.

    Args:
        chunks: The parts: objects with start_index, end_index and context.
    """
    raise NotImplementedError


@placeholder("letta_voice_sleeptime_core")
def rethink_user_memory(caller: Caller, new_memory: str) -> str:
    """Rewrite what is known of the person.

    Args:
        new_memory: The new text.
    """
    raise NotImplementedError


@placeholder("letta_voice_sleeptime_core")
def finish_rethinking_memory(caller: Caller) -> str:
    """Say that the memory is in order now."""
    raise NotImplementedError
