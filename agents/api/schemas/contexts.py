"""An agent's context: its parts with their sizes, and what may be said of compaction."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel

from agents.api import ids
from agents.api.content import parts_of
from agents.api.notes import Unused
from agents.models import Agent, Message

from .conversations import BY_AGENT
from .fields import Json, Moment, Short


class RecompileAgentOptions(BaseModel):
    """What a request for the system message may say in its address."""

    dry_run: Annotated[bool | None, Unused("nothing is stored in either case")] = None
    update_timestamp: Annotated[
        bool | None, Unused("the system message has no time of the last edit")
    ] = None


class CompactOptions(BaseModel):
    """What older SDKs say of a compaction in its address."""

    max_message_length: Annotated[Any, Unused("all but the last exchange is summarised")] = None


class CompactAgent(BaseModel):
    """How to compact an agent's context."""

    conversation_id: Short | None = None
    compaction_settings: Annotated[Json | None, BY_AGENT] = None


class StoredMessage(BaseModel):
    """A message as it is stored, in Letta's inner form."""

    id: str
    role: Literal["system", "user", "assistant", "tool"]
    content: list[Json]
    agent_id: str
    created_at: Moment
    tool_calls: list[Json] | None = None
    tool_call_id: str | None = None
    step_id: str | None = None
    run_id: str | None = None

    @classmethod
    def of(cls, row: Message) -> Self:
        parts: list[Json] = []
        if row.reasoning:
            parts.append({"type": "reasoning", "reasoning": row.reasoning, "is_native": True})
        parts += parts_of(row.content, row.images)
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in row.calls()
        ]
        return cls(
            id=ids.numbered("message", row.pk),
            role=row.role,  # type: ignore[arg-type]
            content=parts,
            agent_id=ids.named("agent", row.agent_id),
            created_at=row.created_at,
            tool_calls=calls or None,
            tool_call_id=row.tool_call_id or None,
            step_id=ids.numbered("step", row.step_id) if row.step_id else None,
            run_id=ids.numbered("run", row.run_id) if row.run_id else None,
        )

    @classmethod
    def system(cls, agent: Agent, text: str) -> Self:
        return cls(
            id=ids.system_message(agent.pk),
            role="system",
            content=[{"type": "text", "text": text}],
            agent_id=ids.named("agent", agent.pk),
            created_at=agent.created_at,
        )


class ContextOverview(BaseModel):
    """What the context is made of. Tokens are estimates."""

    context_window_size_max: int
    context_window_size_current: int
    num_messages: int
    num_archival_memory: int
    num_recall_memory: int
    num_tokens_external_memory_summary: int
    external_memory_summary: str
    num_tokens_system: int
    system_prompt: str
    num_tokens_core_memory: int
    core_memory: str
    num_tokens_summary_memory: int
    summary_memory: str | None
    num_tokens_functions_definitions: int
    functions_definitions: list[Json]
    num_tokens_messages: int
    messages: list[StoredMessage]
