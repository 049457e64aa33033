"""The text of a message, in the forms in which SDKs write it."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError

from agents.models.message import checked

from .errors import invalid


def text_of(content: str | list[dict[str, Any]] | None, field: str = "messages") -> str:
    """The text of a message: a string, or a list of `{"type": "text", "text": …}`.

    422 for a part that is not text: pictures cannot be read here.
    """
    if content is None:
        raise invalid(field, "The message is empty; give its 'content'.")
    if isinstance(content, str):
        return content
    texts = []
    for part in content:
        if part.get("type", "text") != "text" or not isinstance(part.get("text"), str):
            raise invalid(field, "Only parts of type 'text' are supported, each with its 'text'.")
        texts.append(part["text"])
    return "\n".join(texts)


def checked_text(text: str) -> str:
    """A message's text as it is stored; 422 if it cannot be."""
    try:
        return checked(text)
    except ValidationError as error:
        raise invalid("messages", error.messages[0]) from None
