"""Which model a request may choose for an agent."""

from __future__ import annotations

from django.core.exceptions import ValidationError

from agents.llm.choices import check_choice

from .errors import invalid


def check_model(handle: str, owner: int, field: str = "model") -> None:
    """422 where the agents of a person (by key) may not have it. Call it outside of transactions:
    it can be slow."""
    try:
        check_choice(handle, owner)
    except ValidationError as error:
        raise invalid(field, error.messages[0]) from None
