"""Entries of the format's newer form, each with every field that it has there."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from django.db.models import Model

from agents.llm.windows import DEFAULT
from agents.models import Agent, Block, Compaction, Image, Message

# The fields that this program writes and reads by name; their bounds are the models' own.
RUN = (
    *("kind", "text", "status", "reason", "error", "most_steps"),
    *("created_at", "started_at", "finished_at"),
)
STEP = (
    *("status", "model", "outcome", "error", "prompt_tokens", "completion_tokens"),
    *("context_tokens", "context_bytes", "window", "started_at", "finished_at"),
    "feedback",
)
COMPACTION = (
    *("first", "last", "tokens_before", "tokens_after", "summary", "written_by", "error"),
    *("created_at", "tried_at"),
)
CONVERSATION = (
    *("title", "description", "model", "model_settings", "context_window", "hidden"),
    "context_from",
    *("created_at", "last_message_at", "archived_at"),
)

ALERT = (
    "Note: prior messages have been hidden from view due to conversation memory constraints.\n"
    "The following is a summary of the previous messages:\n "
)
NOTHING: dict[str, Any] = {
    "initial_message_sequence": None,
    "include_base_tools": False,
    "include_multi_agent_tools": False,
    "include_base_tool_rules": False,
    "include_default_source": False,
    "model": None,
    "embedding": None,
    "context_window_limit": None,
    "embedding_chunk_size": None,
    "max_tokens": None,
    "max_reasoning_tokens": None,
    "enable_reasoner": False,
    "reasoning": None,
    "from_template": None,
    "template": False,
    "project": None,
    "tool_exec_environment_variables": {},
    "secrets": None,
    "memory_variables": None,
    "project_id": None,
    "template_id": None,
    "base_template_id": None,
    "identity_ids": None,
    "message_buffer_autoclear": False,
    "enable_sleeptime": False,
    "response_format": None,
    "timezone": "UTC",
    "max_files_open": 5,
    "per_file_view_window_char_limit": 15000,
    "hidden": None,
}
EMBEDDING: dict[str, Any] = {  # what the format cannot do without, and this program does not use
    "embedding_endpoint_type": "openai",
    "embedding_endpoint": "https://api.openai.com/v1",
    "embedding_model": "text-embedding-3-small",
    "embedding_dim": 2000,
    "embedding_chunk_size": 300,
    "handle": "openai/text-embedding-3-small",
    "batch_size": 1024,
    "azure_endpoint": None,
    "azure_version": None,
    "azure_deployment": None,
}
BLANK_BLOCK: dict[str, Any] = {
    "project_id": None,
    "is_template": False,
    "template_id": None,
    "base_template_id": None,
    "deployment_id": None,
    "entity_id": None,
    "preserve_on_migration": False,
    "hidden": None,
}


def stamp(moment: datetime | None) -> str | None:
    """A moment as the format writes it."""
    return None if moment is None else moment.astimezone(UTC).isoformat()


def values_of(row: Model, names: Iterable[str]) -> dict[str, Any]:
    """Fields of a row, by name."""
    values = {name: getattr(row, name) for name in names}
    return {
        name: stamp(value) if isinstance(value, datetime) else value
        for name, value in values.items()
    }


def llm_config(agent: Agent) -> dict[str, Any]:
    """The model, as the format describes one; no address or key of an endpoint."""
    handle = agent.model or "letta/letta-free"
    provider, slash, model = handle.partition("/")
    settings = agent.model_settings
    return {
        "model": model if slash else handle,
        "model_endpoint_type": "openai",
        "model_endpoint": None,
        "provider_name": provider if slash else "openai",
        "provider_category": "base",
        "model_wrapper": None,
        "context_window": agent.context_window or DEFAULT,
        "put_inner_thoughts_in_kwargs": False,
        "handle": handle if slash else f"openai/{handle}",
        "temperature": settings.get("temperature", 1.0),
        "max_tokens": settings.get("max_output_tokens"),
        "enable_reasoner": False,
        "reasoning_effort": settings.get("reasoning_effort"),
        "max_reasoning_tokens": 0,
        "frequency_penalty": settings.get("frequency_penalty"),
        "compatibility_type": None,
        "verbosity": settings.get("verbosity"),
        "parallel_tool_calls": settings.get("parallel_tool_calls"),
        "tier": None,
    }


def block_entry(place: int, block: Block) -> dict[str, Any]:
    return {
        "value": block.value,
        "limit": block.limit,
        **BLANK_BLOCK,
        "template_name": block.name or None,
        "metadata": block.metadata,
        "label": block.label,
        "read_only": block.read_only,
        "description": block.description or None,
        "id": f"block-{place}",
    }


def tool_entry(
    place: int, name: str, kind: str, description: str, schema: dict[str, Any]
) -> dict[str, Any]:
    return {
        "id": f"tool-{place}",
        "tool_type": kind,
        "description": description,
        "source_type": "python",
        "name": name,
        "tags": [] if kind == "custom" else [kind],
        "source_code": None,
        "json_schema": schema,
        "args_json_schema": None,
        "return_char_limit": 50000,
        "pip_requirements": None,
        "npm_requirements": None,
        "default_requires_approval": None,
        "created_by_id": None,
        "last_updated_by_id": None,
        "metadata_": {},
    }


def texts(text: str, reasoning: str = "") -> list[dict[str, Any]]:
    """A message's content."""
    thought = {"type": "reasoning", "is_native": True, "reasoning": reasoning, "signature": None}
    said = {"type": "text", "text": text, "signature": None}
    return ([thought] if reasoning else []) + ([said] if text or not reasoning else [])


def message_entry(
    key: str, role: str, content: list[dict[str, Any]], at: datetime, model: str | None
) -> dict[str, Any]:
    return {
        "type": "message",
        "role": role,
        "content": content,
        "name": None,
        "otid": None,
        "sender_id": None,
        "batch_item_id": None,
        "group_id": None,
        "id": key,
        "model": model,
        "agent_id": "agent-0",
        "tool_calls": None,
        "tool_call_id": None,
        "tool_returns": [],
        "created_at": stamp(at),
        "approve": None,
        "approval_request_id": None,
        "denial_reason": None,
    }


def entry_of(message: Message, model: str | None) -> dict[str, Any]:
    """A message of the person, the model or a tool."""
    key, content = f"message-{message.number}", texts(message.content, message.reasoning)
    if message.images:
        content = [part for part in content if part.get("text") != ""] + image_parts(message)
    entry = message_entry(key, message.role, content, message.created_at, model)
    entry["sender_id"] = message.sender_id or None
    if message.tool_calls:
        entry["tool_calls"] = [
            {
                "id": call.id,
                "function": {"arguments": call.arguments, "name": call.name},
                "type": "function",
            }
            for call in message.calls()
        ]
    if message.role == Message.Role.TOOL:
        entry["tool_call_id"] = message.tool_call_id
        entry["tool_returns"] = [
            {
                "tool_call_id": message.tool_call_id,
                "status": "error" if message.is_error else "success",
                "stdout": [message.stdout] if message.stdout else None,
                "stderr": None,
                "func_response": message.content,
            }
        ]
    return entry


def image_parts(message: Message) -> list[dict[str, Any]]:
    """A message's images, with their bytes."""
    keys = [image["sha256"] for image in message.images]
    data = Image.in_base64(message.agent_id, keys)
    return [
        {
            "type": "image",
            "source": {
                "type": "base64",
                "media_type": image["media_type"],
                "data": data.get(image["sha256"], ""),
                "detail": None,
            },
        }
        for image in message.images
    ]


def summary_entry(key: str, summary: Compaction, model: str | None) -> dict[str, Any]:
    """The summary as Letta keeps it: a notice in the place of the messages it stands for."""
    notice = {
        "type": "system_alert",
        "message": f"{ALERT}{summary.summary}",
        "time": stamp(summary.created_at),
    }
    content = texts(json.dumps(notice, ensure_ascii=False))
    return message_entry(key, "user", content, summary.created_at, model)
