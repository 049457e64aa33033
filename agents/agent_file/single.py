"""The older form of the format: one agent that contains its blocks, messages and tools."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext

from agents.text.numbers import whole

from .reading import AgentFileError, Entry


def as_lists(file: Entry) -> dict[str, Any]:
    """The file in the newer form: lists of agents, blocks and tools that name each other by id."""
    blocks = [dict(block.given) for block in file.entries("core_memory")]
    tools = [dict(tool.given) for tool in file.entries("tools")]
    messages = [dict(message.given) for message in file.entries("messages")]
    for kind, rows in (("block", blocks), ("tool", tools), ("message", messages)):
        for place, row in enumerate(rows):
            row["id"] = f"{kind}-{place}"
    for block in blocks:
        block["metadata"] = block.pop("metadata_", None)
    agent = dict(file.given) | {
        "id": "agent-0",
        "messages": messages,
        "block_ids": [block["id"] for block in blocks],
        "tool_ids": [tool["id"] for tool in tools],
        "in_context_message_ids": in_context(file, len(messages)),
        "metadata": file.get("metadata_", dict, None),
        "tool_exec_environment_variables": variables(file),
    }
    agent.pop("tools", None)  # they are in the list of tools
    return {"agents": [agent], "blocks": blocks, "tools": tools}


def in_context(file: Entry, messages: int) -> list[str]:
    """The ids of the messages in the context, which this form names by position."""
    places = file.get("in_context_message_indices", list, [])
    for place in places:
        if type(place) is not int or not 0 <= place < messages:
            words = gettext(
                "in_context_message_indices names the message %(place)s; there are %(count)s,"
                " counted from 0."
            )
            raise AgentFileError(words % {"place": repr(place)[:40], "count": whole(messages)})
    return [f"message-{place}" for place in places]


def variables(file: Entry) -> dict[str, str]:
    """The environment variables, by name."""
    rows = file.entries("tool_exec_environment_variables")
    return {row.get("key", str): row.text("value") for row in rows}
