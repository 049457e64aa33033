"""Blocks, and the core memory that they form."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints

from agents.api.notes import Unused
from agents.models.block import LABEL

from .fields import BlockId, Json, MaybeText, MaybeUserId, Short, State, Tags, Text

Label = Annotated[
    str, StringConstraints(min_length=1, max_length=50, pattern=f"^{LABEL.pattern[2:-2]}$")
]
NO_TEMPLATES = "there are no templates here"
Characters = Annotated[int, Field(ge=1, le=1_000_000)]


class OfLetta(BaseModel):
    """What Letta's clients can send that has no effect here."""

    template_id: Annotated[Any, Unused(NO_TEMPLATES)] = None
    base_template_id: Annotated[Any, Unused(NO_TEMPLATES)] = None
    deployment_id: Annotated[Any, Unused(NO_TEMPLATES)] = None
    entity_id: Annotated[Any, Unused(NO_TEMPLATES)] = None
    is_template: Annotated[Any, Unused(NO_TEMPLATES)] = None
    preserve_on_migration: Annotated[Any, Unused(NO_TEMPLATES)] = None
    project_id: Annotated[Any, Unused("there are no projects here")] = None
    hidden: Annotated[Any, Unused("no block is hidden")] = None


class BlockSettings(OfLetta):
    """What a new block and a change can set. `name` and `template_name` are the script's own."""

    limit: Characters | None = None
    description: Annotated[str, StringConstraints(max_length=500)] | None = None
    name: Short | None = None
    template_name: Short | None = None
    tags: Tags | None = None
    metadata: Json | None = None


class NewBlock(BlockSettings):
    """A block to create."""

    label: Label
    value: Text = ""
    read_only: bool = False


class BlockChange(BlockSettings):
    """What to change of a block; with `version`, only if that is still the current one."""

    version: Annotated[int, Field(ge=0)] | None = None
    label: Label | None = None
    value: Text | None = None
    read_only: bool | None = None


class BlockState(State):
    """A block of core memory."""

    id: BlockId
    label: str
    value: str
    version: int = Field(0, description="How often the value was written.")
    limit: int
    description: MaybeText = None
    read_only: bool = False
    is_template: bool = False
    template_name: MaybeText = Field(None, validation_alias="name")
    name: MaybeText = None
    metadata: Json = {}
    tags: list[str] = []
    hidden: bool | None = None
    project_id: str | None = None
    created_by_id: MaybeUserId = Field(None, validation_alias="owner_id")
    last_updated_by_id: MaybeUserId = Field(None, validation_alias="owner_id")


class CoreMemory(State):
    """An agent's blocks and the Jinja2 template that compiles them."""

    blocks: list[BlockState]
    file_blocks: list[Json] = []
    prompt_template: str
