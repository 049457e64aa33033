"""Export: an agent as a file that Letta's readers take, and that loses nothing read here again.

Field names and ids (`agent-0`, `block-0`, `message-0`) are those of the format's newer form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from django.db.models import Model
from django.utils import timezone

from agents import tools
from agents.memory.context import compile_context
from agents.models import Agent, Block, Conversation, Tool
from agents.models.tag import AgentTag
from agents.tools.custom import CustomTool
from agents.tools.rules import on_the_wire

from .entries import (
    EMBEDDING,
    NOTHING,
    block_entry,
    entry_of,
    llm_config,
    message_entry,
    stamp,
    summary_entry,
    texts,
    tool_entry,
    values_of,
)
from .exported_history import BATCH, ExportedHistory
from .importing import OWN, VERSION
from .pieces import pieces, plain

# Settings that the format has a place for; the others stand beside it, for this program alone.
IN_THE_FORMAT: dict[type[Model], set[str]] = {
    Agent: {
        *("name", "system_prompt", "description", "metadata", "tool_rules"),
        *("message_buffer_autoclear", "timezone", "hidden"),
    },
    Block: {"label", "description", "limit", "read_only", "name", "metadata"},
    Tool: {"tags", "return_char_limit", "default_requires_approval"},
}


def export_agent(agent: Agent) -> dict[str, Any]:
    """The agent as an agent file. Call it in a `snapshot()`, so that all of it is of one moment."""
    whole: dict[str, Any] = plain(Export(agent).file())
    return whole


def written(
    agent: Agent, conversation: Conversation | None = None, *, with_messages: bool = True
) -> Iterator[str]:
    """The same as parts of JSON; rows are read while the file is written.

    With a conversation of the agent's, the file has that one alone, as the agent's first. Without
    messages it has memory, tools and settings, but no messages, runs or steps.
    """
    return pieces(Export(agent, conversation, with_messages=with_messages).file())


def file_name(agent: Agent) -> str:
    """The name of the agent's file."""
    return f"{re.sub(r'[^A-Za-z0-9]+', '_', agent.name).strip('_').lower() or 'agent'}.af"


def own_settings(row: Agent | Block | Tool) -> dict[str, Any]:
    """The settings of a row that the format has no place for."""
    beside = [name for name in row.SETTINGS if name not in IN_THE_FORMAT[type(row)]]
    return {name: getattr(row, name) for name in beside}


class Export:
    """One agent that is being exported."""

    def __init__(
        self, agent: Agent, conversation: Conversation | None = None, *, with_messages: bool = True
    ) -> None:
        self.agent = agent
        self.history = ExportedHistory(agent, conversation, with_messages=with_messages)
        self.blocks = agent.core_memory()
        self.tools = list(self.tools_of())

    def file(self) -> dict[str, Any]:
        return {
            "agents": [self.agent_entry()],
            "groups": [],
            "blocks": [block_entry(place, block) for place, block in enumerate(self.blocks)],
            "files": [],
            "sources": [],
            "tools": self.tools,
            "mcp_servers": [],
            "metadata": {"exported_by": OWN},
            "created_at": stamp(timezone.now()),
            OWN: {
                "version": VERSION,
                "tools": self.own_tools(),
                "agents": {"agent-0": self.own_entry()},
            },
        }

    # -- the format --------------------------------------------------------------------------------

    def agent_entry(self) -> dict[str, Any]:
        agent = self.agent
        style = "memgpt_v2_agent" if tools.speaks_by_tool(agent) else "letta_v1_agent"
        return {
            "name": agent.name,
            "memory_blocks": [],
            "tools": [],
            "tool_ids": [tool["id"] for tool in self.tools],
            "source_ids": [],
            "block_ids": [f"block-{place}" for place in range(len(self.blocks))],
            "tool_rules": on_the_wire(agent.tool_rules, asking=()),
            "tags": list(AgentTag.objects.filter(agent=agent).values_list("tag", flat=True)),
            "system": agent.system_prompt,
            "description": agent.description or None,
            "metadata": agent.metadata,
            "agent_type": agent.agent_type or style,
            "llm_config": llm_config(agent),
            "embedding_config": EMBEDDING,
            **NOTHING,
            "embedding": agent.embedding or None,
            "tool_exec_environment_variables": dict.fromkeys(sorted(agent.secrets), ""),
            "timezone": agent.timezone,
            "message_buffer_autoclear": agent.message_buffer_autoclear,
            "hidden": agent.hidden,
            "id": "agent-0",
            "in_context_message_ids": self.history.in_context(),
            "messages": self.messages(),
            "files_agents": [],
            "group_ids": [],
        }

    def messages(self) -> Iterator[dict[str, Any]]:
        agent, history, model = self.agent, self.history, self.agent.model or None
        context = compile_context(history.first)
        if not history.with_messages:
            context.summary = context.metadata = ""
        system = context.system
        yield message_entry("message-0", "system", texts(system), agent.created_at, model)
        summary = history.compaction
        for message in history.messages():
            if summary and message.number >= history.first.context_from:
                yield summary_entry(history.summary_id, summary, model)
                summary = None
            step = history.step_place.get(message.step_id or 0)
            used = model if step is None else history.steps[step].model
            yield entry_of(message, used)
        if summary:
            yield summary_entry(history.summary_id, summary, model)

    def tools_of(self) -> Iterator[dict[str, Any]]:
        """The agent's tools, except the methods of its memory class, which no file contains."""
        held = [
            tool
            for name, tool in tools.of_agent(self.agent).items()
            if isinstance(tool, CustomTool) or name in tools.names()
        ]
        for place, tool in enumerate(held):
            own = tool.row if isinstance(tool, CustomTool) else None
            kind = "custom" if own else tool.family
            entry = tool_entry(place, tool.name, kind, tool.description, tool.schema)
            if own:
                entry["source_code"] = own.source
                entry |= {name: getattr(own, name) for name in IN_THE_FORMAT[Tool]}
            yield entry

    # -- what only this program reads --------------------------------------------------------------

    def own_entry(self) -> dict[str, Any]:
        rules = self.agent.tool_rules
        waived = [rule["tool_name"] for rule in rules if rule["type"] == "no_approval"]
        return {
            "settings": own_settings(self.agent) | {"no_approval": waived},
            **self.history.own_entries(),
            "passages": self.passages(),
            "blocks": {f"block-{n}": self.ledger(block) for n, block in enumerate(self.blocks)},
        }

    def own_tools(self) -> dict[str, Any]:
        """Of custom tools what the format has no place for."""
        ids = {tool["name"]: tool["id"] for tool in self.tools if tool["tool_type"] == "custom"}
        own = Tool.objects.filter(owner=self.agent.owner_id, name__in=ids)
        return {ids[tool.name]: own_settings(tool) for tool in own}

    def passages(self) -> Iterator[dict[str, Any]]:
        for passage in self.agent.passages.order_by("pk").iterator(chunk_size=BATCH):
            yield {
                **values_of(
                    passage, ("text", "tags", "recalled_count", "recalled_at", "created_at")
                ),
                "editor": passage.editor_name,
                "step": self.history.step_place.get(passage.step_id or 0),
            }

    def ledger(self, block: Block) -> dict[str, Any]:
        """A block's settings and its values: the first, and the one after each edit."""
        edits = list(block.edits.order_by("version"))
        versions = {edit.pk: edit.version for edit in edits}
        return {
            **own_settings(block),
            "first": edits[0].before if edits else block.value,
            "edits": [
                {
                    "after": edit.after,
                    "editor": edit.editor_name,
                    "undoes": versions.get(edit.undoes_id or 0),
                    "restores": edit.restores,
                    "step": self.history.step_place.get(edit.step_id or 0),
                    "tool_call_id": edit.tool_call_id,
                    "created_at": stamp(edit.created_at),
                }
                for edit in edits
            ],
        }
