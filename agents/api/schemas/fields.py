"""Fields of many shapes, each with its bounds, and the answer that says no more than "done"."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, StringConstraints

Short = Annotated[str, StringConstraints(max_length=200)]
Tag = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Tags = Annotated[list[Tag], Field(max_length=50)]
Ids = Annotated[list[Short], Field(max_length=100)]
Text = Annotated[str, StringConstraints(max_length=1_000_000)]
Json = dict[str, Any]


def several(given: Any) -> Any:
    """A query's list: each value by itself, or all in one with commas."""
    return given.split(",") if isinstance(given, str) else given


Many = Annotated[list[Short], BeforeValidator(several), Field(max_length=100)]
Order = Literal["asc", "desc"]


class Done(BaseModel):
    """That it was done."""

    message: str
