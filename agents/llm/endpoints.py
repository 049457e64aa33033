"""Endpoints: the OpenAI-compatible servers that the settings name, and how a call of one fails."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings

from agents.models.message import storable

from .dialects import parse_options

OPENAI = "https://api.openai.com/v1"
DEMO = "demo"


class ModelError(Exception):
    """A model call that failed, in a sentence for the person who waits.

    `retry`: trying again may help, after the `retry_after` seconds that the endpoint asked for.
    `empty`: the answer had no text and no call. `refused`: the endpoint did not accept the request,
    for the reason in `server_words`. `too_long`: the request did not fit the context window;
    `window` and `request_tokens` are the sizes that the refusal names. `adapted`: the next request
    will have another form.
    """

    def __init__(
        self,
        message: str,
        *,
        retry: bool = False,
        retry_after: float | None = None,
        empty: bool = False,
        refused: bool = False,
        server_words: str = "",
        too_long: bool = False,
        window: int | None = None,
        request_tokens: int | None = None,
    ) -> None:
        super().__init__(storable(message))
        self.retry, self.retry_after = retry, retry_after
        self.empty, self.refused, self.server_words = empty, refused, storable(server_words)
        self.too_long, self.window, self.request_tokens = too_long, window, request_tokens
        self.adapted = False


@dataclass(frozen=True)
class Endpoint:
    """A server that speaks the OpenAI chat-completions wire."""

    name: str
    base_url: str
    api_key: str
    options: tuple[tuple[str, Any], ...] = ()  # of its dialect, as the operator says

    @property
    def is_demo(self) -> bool:
        return self.name == DEMO

    @property
    def is_openai(self) -> bool:
        return self.base_url.rstrip("/") == OPENAI

    def __str__(self) -> str:
        return "the built-in demo model" if self.is_demo else self.base_url


def default_endpoint() -> Endpoint:
    """Where a handle without an endpoint leads: OPENAI_BASE_URL, OpenAI itself, or the demo."""
    if settings.OPENAI_BASE_URL or settings.OPENAI_API_KEY:
        return _endpoint("openai", settings.OPENAI_BASE_URL or OPENAI, settings.OPENAI_API_KEY)
    return Endpoint(DEMO, "http://demo/v1", "demo")


def named_endpoints() -> dict[str, Endpoint]:
    """The endpoints a handle may name: the default one, and those of MEMORYWEB_ENDPOINTS."""
    named = {
        name: _endpoint(name, url, settings.ENDPOINT_KEYS.get(name, ""))
        for name, url in settings.ENDPOINTS.items()
    }
    default = default_endpoint()
    named.setdefault(default.name, default)
    return named


@cache
def _endpoint(name: str, url: str, key: str) -> Endpoint:
    """An endpoint of the settings; what follows `#` in its URL are properties of its dialect."""
    base_url, _, fragment = url.partition("#")
    options = parse_options(fragment, base_url)
    return Endpoint(name, base_url.rstrip("/"), key or "none", tuple(sorted(options.items())))
