"""Endpoints: the OpenAI-compatible servers that are asked, and how a call of one fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agents.models.message import storable

from .prices import Price

OPENAI = "https://api.openai.com/v1"
DEMO = "demo"


class ModelError(Exception):
    """A model call that failed, in a sentence for the person who waits.

    `retry`: trying again may help, after the `retry_after` seconds that the endpoint asked for.
    `empty`: the answer had no text and no call. `refused`: the endpoint did not accept the request,
    for the reason in `server_words`. `too_long`: the request did not fit the context window;
    `window` and `request_tokens` are the sizes that the refusal names. `adapted`: the next request
    will have another form. `trouble`: what it says of the endpoint, in words without the server's.
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
        trouble: str = "",
    ) -> None:
        super().__init__(storable(message))
        self.retry, self.retry_after = retry, retry_after
        self.empty, self.refused, self.server_words = empty, refused, storable(server_words)
        self.too_long, self.window, self.request_tokens = too_long, window, request_tokens
        self.adapted, self.trouble = False, trouble


class DefinedModel(NamedTuple):
    """What an administrator says of a model; None where nothing is said."""

    window: int | None = None
    price: Price | None = None


@dataclass(frozen=True)
class Endpoint:
    """A server that speaks the OpenAI chat-completions wire, as one person may use it.

    Two are the same where the same is asked with the same key.
    """

    name: str
    base_url: str
    api_key: str = field(repr=False)
    options: tuple[tuple[str, Any], ...] = ()  # of its dialect, as the operator says
    # of a call with the person's own key, which costs the deployment nothing
    is_own_key: bool = field(default=False, compare=False)
    models: Mapping[str, DefinedModel] = field(default_factory=dict, compare=False, repr=False)
    row: int | None = field(default=None, compare=False)  # key of the row that defines it
    is_default: bool = field(default=False, compare=False)
    default_model: str = field(default="", compare=False)
    only_listed: bool = field(default=False, compare=False)  # only `models` may be asked
    takes_only_own_keys: bool = field(default=False, compare=False)
    problem: str = field(default="", compare=False)  # why it cannot be asked at all, in a sentence

    @property
    def is_demo(self) -> bool:
        return self.name == DEMO

    @property
    def is_openai(self) -> bool:
        return self.base_url.rstrip("/") == OPENAI

    def check(self) -> None:
        """ModelError where it cannot be asked at all."""
        if self.problem:
            raise ModelError(self.problem)

    def __str__(self) -> str:
        return "the built-in demo model" if self.is_demo else self.base_url
