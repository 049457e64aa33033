"""Rows as the wire has them: an agent, a block, a tool, a passage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from django.contrib.auth.models import User

from agents import tools as agent_tools
from agents.llm import ModelError, resolve
from agents.llm.windows import window_of
from agents.memory.classes import CLASSES, template_of
from agents.models import Agent, AgentTag, Block, Message, Passage, Run, Tool
from agents.models.prepared_sql import key, values
from agents.models.tool import LONGEST_RETURN
from agents.tools import core_memory
from agents.tools.memory_methods import method_tools
from agents.tools.rules import on_the_wire

from . import ids
from .identity_serializers import identities_of, identities_of_one

BASE_TOOLS = [
    "send_message",
    "conversation_search",
    "core_memory_append",
    "core_memory_replace",
    "archival_memory_insert",
    "archival_memory_search",
]
MEMGPT, PLAIN = "memgpt_v2_agent", "letta_v1_agent"
MOST_MESSAGES = 1000  # ids of messages shown with an agent, the newest
EMBEDDING_DIM = 1536  # what clients expect where nothing is known


def user_id(pk: int | None) -> str | None:
    return None if pk is None else ids.numbered("user", pk)


# -- blocks ----------------------------------------------------------------------------------------


def block_id(block: Block) -> str:
    return ids.named("block", block.pk)


def block_state(block: Block) -> dict[str, Any]:
    return {
        "id": block_id(block),
        "label": block.label,
        "value": block.value,
        "version": block.version,
        "limit": block.limit,
        "description": block.description or None,
        "read_only": block.read_only,
        "template_name": block.name or None,
        "name": block.name or None,
        "metadata": block.metadata,
        "tags": block.tags,
        "created_by_id": user_id(block.owner_id),
        "last_updated_by_id": user_id(block.owner_id),
    }


def core_memory_state(agent: Agent, blocks: Iterable[Block]) -> dict[str, Any]:
    return {
        "blocks": [block_state(block) for block in blocks],
        "file_blocks": [],
        "prompt_template": template_of(agent.prompt_template, agent.memory_class),
    }


# -- tools -----------------------------------------------------------------------------------------


def tool_id(tool: Tool | str) -> str:
    """Of a user's own tool, or of one that memoryweb brings, by its name."""
    return ids.named("tool", ids.built_in(tool) if isinstance(tool, str) else tool.pk)


@cache
def built_in_tools() -> dict[str, agent_tools.Tool]:
    """The tools that have no row, by name: built in, and the methods of memory classes."""
    found = {name: agent_tools.get(name) for name in agent_tools.names()}
    for memory_class in CLASSES.values():
        found = method_tools(memory_class) | found
    return found


def own_tool_state(tool: Tool) -> dict[str, Any]:
    return {
        "id": tool_id(tool),
        "name": tool.name,
        "tool_type": "custom",
        "description": tool.description,
        "source_code": tool.source,
        "json_schema": tool.json_schema,
        "tags": tool.tags,
        "return_char_limit": tool.return_char_limit,
        "default_requires_approval": tool.default_requires_approval,
        "created_by_id": user_id(tool.owner_id),
        "last_updated_by_id": user_id(tool.owner_id),
    }


def built_in_state(tool: agent_tools.Tool) -> dict[str, Any]:
    """What is shown of it; the same each time, and not to be changed."""
    return _built_in_state(tool.name)


@cache
def _built_in_state(name: str) -> dict[str, Any]:
    tool = built_in_tools()[name]
    edits = tool.name in core_memory.EDITING or tool.name.startswith("core_memory")
    return {
        "id": tool_id(tool.name),
        "name": tool.name,
        "tool_type": "letta_memory_core" if edits else "letta_core",
        "description": tool.description,
        "json_schema": tool.schema,
        "return_char_limit": LONGEST_RETURN,
    }


def tool_states(agent: Agent, own: dict[str, Tool] | None = None) -> list[dict[str, Any]]:
    """The agent's tools in its order; `own` are its owner's by name, where they are at hand."""
    brought = built_in_tools()
    others = [name for name in agent.tools if name not in brought]
    if own is None:
        own = {}
        if others:
            rows = Tool.objects.filter(owner_id=agent.owner_id, name__in=others)
            own = {tool.name: tool for tool in rows}
    return [
        _built_in_state(name) if name in brought else own_tool_state(own[name])
        for name in dict.fromkeys(agent.tools)
        if name in brought or name in own
    ]


# -- agents ----------------------------------------------------------------------------------------


def agent_id(agent: Agent) -> str:
    return ids.named("agent", agent.pk)


def agent_state(agent: Agent) -> dict[str, Any]:
    """An agent with all that belongs to it."""
    found = values(AgentTag, ("tag",), "WHERE agent_id = %s ORDER BY tag", key(agent))
    tags = [tag for (tag,) in found]
    return _state(agent, agent.core_memory(), tool_states(agent), tags, identities_of_one(agent))


def agent_states(agents: Sequence[Agent], owner: User) -> list[dict[str, Any]]:
    """Several agents, with a query for each kind of thing that belongs to them."""
    from agents.models import Attachment

    names = {name for agent in agents for name in agent.tools}
    own = {tool.name: tool for tool in Tool.objects.filter(owner=owner, name__in=names)}
    blocks: dict[Any, list[Block]] = {agent.pk: [] for agent in agents}
    held = Attachment.objects.filter(agent__in=agents).select_related("block")
    for attachment in held.order_by("position", "pk"):
        blocks[attachment.agent_id].append(attachment.block)
    tags: dict[Any, list[str]] = {agent.pk: [] for agent in agents}
    for tagged in AgentTag.objects.filter(agent__in=agents):
        tags[tagged.agent_id].append(tagged.tag)
    identities = identities_of(agents)
    return [
        _state(agent, blocks[pk], tool_states(agent, own), tags[pk], identities.get(pk, []))
        for pk, agent in ((agent.pk, agent) for agent in agents)
    ]


def _state(
    agent: Agent,
    blocks: list[Block],
    tools: list[dict[str, Any]],
    tags: list[str],
    identities: list[dict[str, Any]],
) -> dict[str, Any]:
    ended, reason = last_end(agent)
    memory = core_memory_state(agent, blocks)
    return {
        "id": agent_id(agent),
        "name": agent.name,
        "description": agent.description or None,
        "system": agent.system_prompt,
        "agent_type": agent.agent_type or (MEMGPT if agent_tools.speaks_by_tool(agent) else PLAIN),
        "model": agent.model,
        "embedding": agent.embedding or None,
        "llm_config": llm_config(agent),
        "embedding_config": embedding_config(agent.embedding),
        "memory": memory,
        "blocks": memory["blocks"],
        "tools": tools,
        "tool_rules": rules_state(agent, tools),
        "tags": tags,
        "identities": identities,
        "identity_ids": [identity["id"] for identity in identities],
        "metadata": agent.metadata,
        "message_ids": message_ids(agent),
        "context_window_limit": agent.context_window,
        "last_run_completion": ended,
        "last_stop_reason": reason or None,
        "created_by_id": user_id(agent.owner_id),
        "last_updated_by_id": user_id(agent.owner_id),
        "created_at": agent.created_at,
        "updated_at": agent.updated_at,
    }


def rules_state(agent: Agent, tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rules that hold, with one for each tool that needs approval by its own setting."""
    asking = [tool["name"] for tool in tools if tool.get("default_requires_approval")]
    shown = on_the_wire(agent.tool_rules, asking)
    return [{"prompt_template": None, **rule} for rule in shown]


def last_end(agent: Agent) -> tuple[datetime | None, str]:
    """When and why the newest run ended that has begun."""
    newest = "WHERE agent_id = %s AND status <> 'queued' ORDER BY id DESC LIMIT 1"
    found = values(Run, ("finished_at", "reason"), newest, key(agent))
    return (found[0][0], found[0][1]) if found else (None, "")


def message_ids(agent: Agent) -> list[str]:
    """The messages in the agent's context: the system message, then from the oldest on."""
    rest = (
        "WHERE agent_id = %s AND number >= %s AND NOT aside AND status IN ('complete', 'stopped')"
        " AND left_out IS NULL ORDER BY number DESC LIMIT %s"
    )
    found = values(Message, ("id",), rest, key(agent), agent.context_from, MOST_MESSAGES)
    said = [ids.numbered("message", pk) for (pk,) in reversed(found)]
    return [ids.system_message(agent.pk), *said]


def llm_config(agent: Agent) -> dict[str, Any]:
    """Which model answers, by what is known without asking anybody."""
    try:
        endpoint, model = resolve(agent.model, ask=False)
    except ModelError:  # the endpoint names no model just now
        return {
            "handle": agent.model,
            "model": agent.model.rpartition("/")[2],
            "model_endpoint_type": "openai",
            "context_window": agent.context_window or 32_000,
        }
    window = agent.context_window or window_of(endpoint, model, ask=False)
    return {
        "handle": agent.model or f"{endpoint.name}/{model}",
        "model": model,
        "model_endpoint_type": "openai",
        "model_endpoint": None if endpoint.is_demo else endpoint.base_url,
        "provider_name": endpoint.name,
        "context_window": window,
        "put_inner_thoughts_in_kwargs": False,
    }


def embedding_config(handle: str) -> dict[str, Any]:
    return {
        "handle": handle or None,
        "embedding_model": handle.rpartition("/")[2],
        "embedding_endpoint_type": "openai",
        "embedding_endpoint": None,
        "embedding_dim": EMBEDDING_DIM,
        "embedding_chunk_size": 300,
    }


# -- passages --------------------------------------------------------------------------------------


def passage_state(passage: Passage) -> dict[str, Any]:
    return {
        "id": ids.numbered("passage", passage.pk),
        "text": passage.text,
        "tags": passage.tags,
        "archive_id": ids.named("archive", passage.agent_id),
        "created_by_id": user_id(passage.user_id),
        "created_at": passage.created_at,
        "updated_at": passage.updated_at,
    }
