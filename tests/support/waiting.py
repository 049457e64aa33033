"""Tool calls that wait, and what scripts answer to them, in Letta's form."""

from __future__ import annotations

from typing import Any

from agents.models import Block

APPEND = ("core_memory_append", {"label": "human", "content": "Likes pie"})
AGAIN = ("core_memory_append", {"label": "human", "content": "Likes cake"})
READ = ("read_file", {"path": "notes.txt"})
NOTES = {
    "name": "read_file",
    "description": "Read a file of the person's computer.",
    "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
}


def human() -> str:
    return Block.objects.get(label="human").value


def call_ids(message: dict[str, Any]) -> list[str]:
    return [call["tool_call_id"] for call in message["tool_calls"]]


def approval(call_id: str, *, approve: bool = True, **more: Any) -> dict[str, Any]:
    return {"type": "approval", "tool_call_id": call_id, "approve": approve, **more}


def returned(call_id: str, text: str, status: str = "success", **more: Any) -> dict[str, Any]:
    return {"type": "tool", "tool_call_id": call_id, "tool_return": text, "status": status, **more}


def answering(*approvals: dict[str, Any]) -> dict[str, Any]:
    return {"messages": [{"type": "approval", "approvals": approvals}]}
