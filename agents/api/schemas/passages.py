"""Passages of archival memory."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from .fields import ArchiveId, Json, Many, MaybeUserId, Moment, PassageId, Short, State, Tags


class NewPassage(BaseModel):
    """A passage to store."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=100_000)]
    tags: Tags | None = None
    created_at: datetime | None = None


class PassageChange(BaseModel):
    """What to change of a passage."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=100_000)] | None = None
    tags: Tags | None = None


class PassageState(State):
    """A passage of archival memory."""

    id: PassageId
    text: str
    tags: list[str]
    embedding: list[float] | None = None
    embedding_config: Json | None = None
    metadata: Json = {}
    archive_id: ArchiveId = Field(validation_alias="agent_id")
    source_id: str | None = None
    file_id: str | None = None
    file_name: str | None = None
    is_deleted: bool = False
    created_by_id: MaybeUserId = Field(None, validation_alias="user_id")
    created_at: Moment
    updated_at: Moment


class PassageResult(State):
    """A passage that a search found."""

    id: PassageId
    content: str = Field(validation_alias="text")
    timestamp: Moment = Field(validation_alias="created_at")
    tags: list[str]


class PassageResults(BaseModel):
    """What a search of archival memory found."""

    results: list[PassageResult]
    count: int


class PassageSearchOfAll(BaseModel):
    """What to search for in passages; those of all agents unless one is named."""

    query: Annotated[str, StringConstraints(max_length=10_000)] | None = None
    agent_id: Short | None = None
    archive_id: Short | None = None
    tags: Many | None = None
    tag_match_mode: Literal["any", "all"] = "any"
    start_date: datetime | None = None
    end_date: datetime | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 50


class FoundPassage(State):
    """A passage that a search over agents found, with how well it matches."""

    passage: PassageState
    score: float
    metadata: Json = {}
