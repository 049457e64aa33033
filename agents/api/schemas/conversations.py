"""Conversations: an agent's histories."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AliasPath, BaseModel, Field, StringConstraints, field_validator

from agents.api.notes import Refused, Unused
from agents.models.conversation import LONGEST_TITLE, Conversation
from agents.models.message_context import keys_in_context

from .. import ids
from .fields import AgentId, ConversationId, Json, MaybeText, Moment, Short, State, UserId
from .messages import SendMessages
from .model_settings import ModelSettings, on_the_wire

MOST_MESSAGES = 1000
Title = Annotated[str, StringConstraints(max_length=LONGEST_TITLE)]
Description = Annotated[str, StringConstraints(max_length=10_000)]
Window = Annotated[int, Field(ge=1000, le=10_000_000)]
BY_AGENT = Refused("how its conversations are compacted is set at the agent")


class ConversationState(State):
    """A conversation. `summary` is its title, in Letta's word."""

    id: ConversationId = Field(validation_alias="pk")
    agent_id: AgentId
    summary: MaybeText = Field(validation_alias="title")
    description: MaybeText
    model: MaybeText
    model_settings: Json | None
    context_window_limit: int | None = Field(validation_alias="context_window")
    archived: bool = Field(validation_alias="is_archived")
    archived_at: Moment | None
    hidden: bool
    created_at: Moment
    updated_at: Moment = Field(validation_alias="newest_moment")
    last_message_at: Moment | None
    created_by_id: UserId = Field(validation_alias=AliasPath("agent", "owner_id"))
    in_context_message_ids: list[str] | None = None
    isolated_block_ids: list[str] = []

    @field_validator("model_settings", mode="before")
    @classmethod
    def _on_the_wire(cls, settings: Json) -> Json | None:
        return on_the_wire(settings) if settings else None


def with_messages(conversation: Conversation) -> ConversationState:
    """A conversation with the messages in its context."""
    state = ConversationState.model_validate(conversation)
    keys = keys_in_context(conversation, MOST_MESSAGES)
    first = ids.system_message(conversation.agent_id)
    state.in_context_message_ids = [first, *(ids.numbered("message", key) for key in keys)]
    return state


class NewConversation(BaseModel):
    """A new conversation; what it does not set is as the agent has it."""

    summary: Title | None = None
    description: Description | None = None
    model: Short | None = None
    context_window_limit: Window | None = None
    hidden: bool = False
    isolated_block_labels: Annotated[
        list[Short] | None, Unused("an agent has one memory, which all its conversations share")
    ] = None
    model_settings: ModelSettings | None = None


class ConversationChange(BaseModel):
    """The fields to change."""

    summary: Title | None = None
    description: Description | None = None
    model: Short | None = None
    context_window_limit: Window | None = None
    archived: bool | None = None
    last_message_at: datetime | None = None
    model_settings: ModelSettings | None = None


class SendInConversation(SendMessages):
    """Messages for a conversation; the answer is a stream unless `streaming` is false."""

    agent_id: Short | None = None
    streaming: bool = True


class FollowConversation(BaseModel):
    """How to continue the stream of the newest run of a conversation."""

    agent_id: Short | None = None
    run_id: Short | None = None
    otid: Short | None = None
    starting_after: Annotated[int, Field(ge=0)] = 0
    include_pings: bool = True
    poll_interval: Annotated[float | None, Unused("new events are sent at once")] = None
    batch_size: Annotated[int | None, Unused("all events are sent at once")] = None


class Compact(BaseModel):
    """Which conversation to compact; `agent_id` is the agent of "default"."""

    agent_id: Short | None = None
    conversation_id: Short | None = None
    compaction_settings: Annotated[Json | None, BY_AGENT] = None


class Compacted(BaseModel):
    """What a compaction did."""

    summary: str
    num_messages_before: int
    num_messages_after: int


class Recompile(BaseModel):
    """A request for the system message as it would be sent now."""

    agent_id: Short | None = None
    compaction_settings: Annotated[
        Json | None, Unused("the system message does not depend on it")
    ] = None


class RecompileOptions(BaseModel):
    """What a request for the system message may say in its address."""

    dry_run: Annotated[bool | None, Unused("nothing is stored in either case")] = None


ArchiveStatus = Literal["unarchived", "archived", "all"]
OrderBy = Literal["created_at", "last_run_completion", "last_message_at"]
