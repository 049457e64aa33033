"""Field types that several shapes share, each with its bounds, and the base of what is answered."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Annotated, Any, Literal

from django.core.serializers.json import DjangoJSONEncoder
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StringConstraints,
    WithJsonSchema,
)

from agents.api import ids

# -- what is sent ----------------------------------------------------------------------------------

Short = Annotated[str, StringConstraints(max_length=200)]
Tag = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Tags = Annotated[list[Tag], Field(max_length=50)]
Ids = Annotated[list[Short], Field(max_length=100)]
Text = Annotated[str, StringConstraints(max_length=1_000_000)]
Json = dict[str, Any]


def split_commas(value: Any) -> Any:
    """A list in a query: one value each time, or all of them in one, separated by commas."""
    return value.split(",") if isinstance(value, str) else value


Many = Annotated[list[Short], BeforeValidator(split_commas), Field(max_length=100)]
Order = Literal["asc", "desc"]

# -- what is answered ------------------------------------------------------------------------------


class State(BaseModel):
    """The shape of an answer, read from a row: each field from the attribute of its name or alias.

    A field that the row does not have keeps its default.
    """

    model_config = ConfigDict(from_attributes=True, validate_by_name=True)


def numbered_id(noun: str, key: int | None) -> str | None:
    """An id made from an integer key; None stays None."""
    return None if key is None else ids.numbered(noun, key)


AgentId = Annotated[str, BeforeValidator(partial(ids.named, "agent"))]
ArchiveId = Annotated[str, BeforeValidator(partial(ids.named, "archive"))]
ConversationId = Annotated[str, BeforeValidator(partial(ids.named, "conv"))]
BlockId = Annotated[str, BeforeValidator(partial(ids.named, "block"))]
IdentityId = Annotated[str, BeforeValidator(partial(ids.named, "identity"))]
ToolId = Annotated[str, BeforeValidator(partial(ids.named, "tool"))]
PassageId = Annotated[str, BeforeValidator(partial(numbered_id, "passage"))]
RunId = Annotated[str, BeforeValidator(partial(numbered_id, "run"))]
StepId = Annotated[str, BeforeValidator(partial(numbered_id, "step"))]
UserId = Annotated[str, BeforeValidator(partial(numbered_id, "user"))]
MaybeUserId = Annotated[str | None, BeforeValidator(partial(numbered_id, "user"))]
MaybeText = Annotated[str | None, BeforeValidator(lambda text: text or None)]  # "" is null
Moment = Annotated[
    datetime,
    PlainSerializer(DjangoJSONEncoder().default, when_used="json"),  # to the millisecond
    WithJsonSchema({"type": "string", "format": "date-time"}),
]


class Done(BaseModel):
    """Says that it was done."""

    message: str
