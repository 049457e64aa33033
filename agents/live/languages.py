"""Which language a page speaks, and hence its socket."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import parse_qs

from django.conf import settings
from django.utils import translation
from django.utils.translation import get_supported_language_variant

T = TypeVar("T")


def language_of(scope: dict[str, Any]) -> str:
    """The language that a page names in its socket's address: that it was drawn in, whatever was
    chosen since in another tab. The usual one where it names none that is offered."""
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    try:
        return get_supported_language_variant(query.get("language", [""])[0])
    except LookupError:
        return settings.LANGUAGE_CODE


def speaking(language: str, function: Callable[..., T], *args: Any) -> T:
    """What a function gives that speaks a language: a thread does not take it over from whoever
    hands it work."""
    with translation.override(language):
        return function(*args)
