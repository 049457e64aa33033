"""Export: an agent as a file that Letta's readers take, and that loses nothing read here again.

Field names and ids (`agent-0`, `block-0`, `message-0`) are those of the format's newer form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.utils import timezone

from agents import tools
from agents.memory.context import compile_context
from agents.models import Agent, Block, Compaction, Message, Run, Step, Tool
from agents.models.tag import AgentTag
from agents.tools.custom import CustomTool
from agents.tools.rules import on_the_wire

from .entries import (
    COMPACTION,
    CONVERSATION,
    EMBEDDING,
    NOTHING,
    RUN,
    STEP,
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
from .importing import OWN, VERSION
from .pieces import pieces, plain

# Settings that the format has a place for; the others stand beside it, for this program alone.
IN_THE_FORMAT: dict[type[Model], set[str]] = {
    Agent: {
        *("name", "system_prompt", "description", "metadata", "tool_rules"),
        *("message_buffer_autoclear", "timezone"),
    },
    Block: {"label", "description", "limit", "read_only", "name", "metadata"},
    Tool: {"tags", "return_char_limit", "default_requires_approval"},
}
BATCH = 2000  # rows read at once
Row = TypeVar("Row", bound=Model)


def export_agent(agent: Agent) -> dict[str, Any]:
    """The agent as an agent file. Call it in a `snapshot()`, so that all of it is of one moment."""
    whole: dict[str, Any] = plain(Export(agent).file())
    return whole


def written(agent: Agent, *, with_messages: bool = True) -> Iterator[str]:
    """The same as parts of JSON; rows are read while the file is written.

    Without messages it has memory, tools and settings, but no messages, runs or steps.
    """
    return pieces(Export(agent, with_messages=with_messages).file())


def file_name(agent: Agent) -> str:
    """The name of the agent's file."""
    return f"{re.sub(r'[^A-Za-z0-9]+', '_', agent.name).strip('_').lower() or 'agent'}.af"


def own_settings(row: Agent | Block | Tool) -> dict[str, Any]:
    """The settings of a row that the format has no place for."""
    beside = [name for name in row.SETTINGS if name not in IN_THE_FORMAT[type(row)]]
    return {name: getattr(row, name) for name in beside}


class Export:
    """One agent that is being exported."""

    def __init__(self, agent: Agent, *, with_messages: bool = True) -> None:
        self.agent, self.first = agent, agent.first_conversation
        first = self.first
        self.blocks = agent.core_memory()
        self.tools = list(self.tools_of())
        self.with_messages = with_messages
        others = agent.conversations.exclude(pk=agent.pk).order_by("created_at")
        self.conversations = [first, *others]
        self.place = {each.pk: place for place, each in enumerate(self.conversations)}
        self.compaction = Compaction.newest(first) if with_messages else None
        self.runs = list(
            self.of_conversation(Run.objects.filter(agent=agent))
            .exclude(status=Run.Status.QUEUED)
            .order_by("pk")
        )
        steps = self.of_conversation(Step.objects.filter(run__agent=agent))
        self.steps = list(steps.order_by("run_id", "pk"))
        self.steps_of: dict[int, list[Step]] = {}
        for step in self.steps:
            self.steps_of.setdefault(step.run_id, []).append(step)
        self.run_place = {run.pk: place for place, run in enumerate(self.runs)}
        self.step_place = {step.pk: place for place, step in enumerate(self.steps)}
        said = self.of_conversation(Message.objects.filter(agent=agent))
        self.sent = said.exclude(status=Message.Status.DRAFT)
        # Messages have the numbers they have in the agent; 0 is the system message, and the
        # summary has the one after the last.
        self.summary_id = f"message-{agent.message_count + 1}"

    def of_conversation(self, rows: QuerySet[Row]) -> QuerySet[Row]:
        """Rows that belong to the conversation; none if it is left out."""
        return rows if self.with_messages else rows.none()

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
            "timezone": agent.timezone,
            "message_buffer_autoclear": agent.message_buffer_autoclear,
            "id": "agent-0",
            "in_context_message_ids": self.in_context(),
            "messages": self.messages(),
            "files_agents": [],
            "group_ids": [],
        }

    def in_context(self) -> list[str]:
        """The ids of the messages in the context, the system message first."""
        numbers = self.sent.filter(
            conversation=self.first.pk,
            number__gte=self.first.context_from,
            internal=False,
            left_out=None,
            status__in=(Message.Status.COMPLETE, Message.Status.STOPPED),
        )
        said = [f"message-{n}" for n in numbers.order_by("number").values_list("number", flat=True)]
        return ["message-0", *([self.summary_id] if self.compaction else []), *said]

    def messages(self) -> Iterator[dict[str, Any]]:
        agent, model = self.agent, self.agent.model or None
        context = compile_context(self.first)
        if not self.with_messages:
            context.summary = context.metadata = ""
        system = context.system
        yield message_entry("message-0", "system", texts(system), agent.created_at, model)
        summary = self.compaction
        for message in self.rows():
            if summary and message.number >= self.first.context_from:
                yield summary_entry(self.summary_id, summary, model)
                summary = None
            step = self.step_place.get(message.step_id or 0)
            used = model if step is None else self.steps[step].model
            yield entry_of(message, used)
        if summary:
            yield summary_entry(self.summary_id, summary, model)

    def rows(self) -> Iterator[Message]:
        return self.sent.order_by("number").iterator(chunk_size=BATCH)

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
        made = ["message-0", *([self.summary_id] if self.compaction else [])]
        rules = self.agent.tool_rules
        waived = [rule["tool_name"] for rule in rules if rule["type"] == "no_approval"]
        return {
            "settings": own_settings(self.agent) | {"no_approval": waived},
            "made": made,
            "conversations": [
                values_of(each, CONVERSATION) for each in self.conversations if self.with_messages
            ],
            "runs": (self.run_entry(run) for run in self.runs),
            "messages": self.own_messages(),
            "compactions": [
                {"run": self.run_place[each.run_id], **values_of(each, COMPACTION)}
                for each in self.of_conversation(
                    Compaction.objects.filter(conversation__agent=self.agent).order_by("pk")
                )
            ],
            "passages": self.passages(),
            "blocks": {f"block-{n}": self.ledger(block) for n, block in enumerate(self.blocks)},
        }

    def own_tools(self) -> dict[str, Any]:
        """Of custom tools what the format has no place for."""
        ids = {tool["name"]: tool["id"] for tool in self.tools if tool["tool_type"] == "custom"}
        own = Tool.objects.filter(owner=self.agent.owner_id, name__in=ids)
        return {ids[tool.name]: own_settings(tool) for tool in own}

    def run_entry(self, run: Run) -> dict[str, Any]:
        steps = [values_of(step, STEP) for step in self.steps_of.get(run.pk, [])]
        place = {"conversation": self.place[run.conversation_id]}
        return values_of(run, (*RUN, "role")) | place | {"steps": steps}

    def own_messages(self) -> Iterator[dict[str, Any]]:
        """What the format has no field for, message by message."""
        fields = ("number", "run_id", "step_id", "status", "internal", "duration_ms")
        rows = self.sent.order_by("number").values_list(*fields).iterator(chunk_size=BATCH)
        for number, run, step, status, internal, duration_ms in rows:
            kept: dict[str, Any] = {
                "id": f"message-{number}",
                "run": self.run_place.get(run),
                "step": self.step_place.get(step),
            }
            if status != Message.Status.COMPLETE:
                kept["status"] = status
            if internal:
                kept["internal"] = True
            if duration_ms is not None:
                kept["duration_ms"] = duration_ms
            yield kept

    def passages(self) -> Iterator[dict[str, Any]]:
        for passage in self.agent.passages.order_by("pk").iterator(chunk_size=BATCH):
            yield {
                **values_of(
                    passage, ("text", "tags", "recalled_count", "recalled_at", "created_at")
                ),
                "editor": passage.editor_name,
                "step": self.step_place.get(passage.step_id or 0),
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
                    "step": self.step_place.get(edit.step_id or 0),
                    "tool_call_id": edit.tool_call_id,
                    "created_at": stamp(edit.created_at),
                }
                for edit in edits
            ],
        }
