"""Endpoints: which OpenAI-compatible server, and which of its models, answers for a handle.

A handle is a model's name (`gpt-4o-mini`) or `endpoint/model` (`openai/gpt-4o-mini`). An endpoint
nobody configured, `letta/letta-free` and an empty handle all mean the default model.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from django.conf import settings

from agents.models.message import storable

OPENAI = "https://api.openai.com/v1"
OPENAI_MODEL = "gpt-4o-mini"
DEMO = "demo"
DEMO_MODEL = "memoryweb-demo"
LIST_KEPT = 60.0  # seconds


class ModelError(Exception):
    """A model call that failed, in a sentence for the person who waits.

    `retry` says whether trying again may help; `retry_after` is the wait the endpoint asked for,
    in seconds; `too_long` that the request did not fit the model's context window.
    """

    def __init__(
        self,
        message: str,
        *,
        retry: bool = False,
        retry_after: float | None = None,
        too_long: bool = False,
    ) -> None:
        super().__init__(storable(message))
        self.retry, self.retry_after, self.too_long = retry, retry_after, too_long


@dataclass(frozen=True)
class Endpoint:
    """A server that speaks the OpenAI chat-completions wire."""

    name: str
    base_url: str
    api_key: str

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
        base_url = settings.OPENAI_BASE_URL.rstrip("/") or OPENAI
        return Endpoint("openai", base_url, settings.OPENAI_API_KEY or "none")
    return Endpoint(DEMO, "http://demo/v1", "demo")


def named_endpoints() -> dict[str, Endpoint]:
    """The endpoints a handle may name: `openai` if it is OpenAI's own, and MEMORYWEB_ENDPOINTS."""
    named = {
        name: Endpoint(name, url.rstrip("/"), settings.ENDPOINT_KEYS.get(name) or "none")
        for name, url in settings.ENDPOINTS.items()
    }
    default = default_endpoint()
    if default.is_openai or default.is_demo:
        named.setdefault(default.name, default)
    return named


def resolve(handle: str) -> tuple[Endpoint, str]:
    """The endpoint and the model's name there; ModelError where the endpoint lists no model."""
    default = default_endpoint()
    name, slash, model = handle.partition("/")
    if slash and model and (endpoint := named_endpoints().get(name)):
        return endpoint, DEMO_MODEL if endpoint.is_demo else model
    if default.is_demo:
        return default, DEMO_MODEL
    if handle and not slash:
        return default, handle
    if handle and name != "letta" and handle in known_models(default):
        return default, handle
    return default, default_model(default)


def default_model(endpoint: Endpoint) -> str:
    """MEMORYWEB_MODEL, or what is usual there."""
    if settings.MODEL:
        return str(settings.MODEL)
    if endpoint.is_demo:
        return DEMO_MODEL
    if endpoint.is_openai:
        return OPENAI_MODEL
    models = known_models(endpoint)
    if not models:
        raise ModelError(f"{endpoint} lists no model; name one in MEMORYWEB_MODEL.")
    return models[0]


_listed: dict[Endpoint, tuple[float, list[str]]] = {}
_listing = threading.Lock()


def known_models(endpoint: Endpoint) -> list[str]:
    """The models an endpoint lists, asked at most once a minute. ModelError if it does not say."""
    from .openai import list_models

    with _listing:
        at, models = _listed.get(endpoint, (0.0, []))
        if not models or time.monotonic() - at > LIST_KEPT:
            models = list(list_models(endpoint))
            _listed[endpoint] = (time.monotonic(), models)
        return models
