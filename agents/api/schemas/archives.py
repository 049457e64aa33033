"""Archives, each of which is an agent's archival memory."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from agents.api.notes import Refused

from .fields import ArchiveId, Json, Moment, State, UserId
from .passages import NewPassage


class ArchiveState(State):
    """An agent's archival memory; its name is the agent's."""

    id: ArchiveId = Field(validation_alias="pk")
    name: str
    description: str | None = None
    embedding_config: Json | None = None
    vector_db_provider: str = "native"
    created_at: Moment
    updated_at: Moment
    created_by_id: UserId = Field(validation_alias="owner_id")


class NewArchivePassage(NewPassage):
    """A passage to store in an archive."""

    metadata: Annotated[Json | None, Refused("a passage has tags and no metadata; use tags")] = None


class NewArchivePassages(BaseModel):
    """Passages to store in an archive."""

    passages: Annotated[list[NewArchivePassage], Field(min_length=1, max_length=1000)]
