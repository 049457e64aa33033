"""Passages of archival memory."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, StringConstraints

from .fields import Json, Tags


class NewPassage(BaseModel):
    """A text to put away."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=100_000)]
    tags: Tags | None = None
    created_at: datetime | None = None


class PassageChange(BaseModel):
    """What of a passage is to change."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=100_000)] | None = None
    tags: Tags | None = None


class PassageState(BaseModel):
    """A piece of archival memory."""

    id: str
    text: str
    tags: list[str]
    embedding: list[float] | None = None
    embedding_config: Json | None = None
    metadata: Json = {}
    archive_id: str
    source_id: str | None = None
    file_id: str | None = None
    file_name: str | None = None
    is_deleted: bool = False
    created_by_id: str | None = None
    created_at: datetime
    updated_at: datetime


class FoundPassage(BaseModel):
    id: str
    content: str
    timestamp: datetime
    tags: list[str]


class FoundPassages(BaseModel):
    results: list[FoundPassage]
    count: int
