"""Endpoints: which OpenAI-compatible server, and which of its models, answers for a handle.

A handle is a model's name at the default endpoint (`gpt-4o-mini`) or `endpoint/model`
(`openai/gpt-4o-mini`), as `/v1/models` lists them. An empty handle and `letta/letta-free`, which
Letta's examples use, mean the default model; any other that leads nowhere is an error.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings

from agents.models.message import storable

from .dialects import options_of

OPENAI = "https://api.openai.com/v1"
OPENAI_MODEL = "gpt-4o-mini"
DEMO = "demo"
DEMO_MODEL = "memoryweb-demo"
USUAL = ("", "letta/letta-free")  # handles of the default model
LIST_KEPT = 60.0  # seconds


class ModelError(Exception):
    """A model call that failed, in a sentence for the person who waits.

    `retry` says whether trying again may help; `retry_after` is the wait the endpoint asked for,
    in seconds. `empty`: it answered, and said nothing. `refused`: it did not take the request, and
    `said` why. `too_long`: the request did not fit the context window, of `window` tokens where
    `said` names it; `asked` is what it came to. `adapted`: the next request will be another one.
    """

    def __init__(
        self,
        message: str,
        *,
        retry: bool = False,
        retry_after: float | None = None,
        empty: bool = False,
        refused: bool = False,
        said: str = "",
        too_long: bool = False,
        window: int | None = None,
        asked: int | None = None,
    ) -> None:
        super().__init__(storable(message))
        self.retry, self.retry_after = retry, retry_after
        self.empty, self.refused, self.said = empty, refused, storable(said)
        self.too_long, self.window, self.asked = too_long, window, asked
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
    options = options_of(fragment, base_url)
    return Endpoint(name, base_url.rstrip("/"), key or "none", tuple(sorted(options.items())))


def resolve(handle: str, *, ask: bool = True) -> tuple[Endpoint, str]:
    """The endpoint and the model's name there; without `ask` by what is known already.

    ModelError where the handle leads to none here, or the endpoint lists no model.
    """
    default = default_endpoint()
    if handle in USUAL:
        return default, default_model(default, ask=ask)
    name, slash, model = handle.partition("/")
    if not slash:
        if default.is_demo and handle != DEMO_MODEL:
            raise unknown(handle)
        return default, handle
    endpoint = named_endpoints().get(name)
    if endpoint == default and not default.is_openai and lists(default, handle, ask=ask):
        return default, handle  # a server of servers, whose own names have a slash
    if endpoint and model and (not endpoint.is_demo or model == DEMO_MODEL):
        return endpoint, model
    if endpoint is None and lists(default, handle, ask=ask):
        return default, handle
    raise unknown(handle)


def lists(endpoint: Endpoint, model: str, *, ask: bool = True) -> bool:
    """Whether an endpoint lists a model; False where it says nothing."""
    if endpoint.is_demo:
        return False
    try:
        return model in known_models(endpoint, ask=ask)
    except ModelError:
        return False


def unknown(handle: str) -> ModelError:
    """That a handle leads to no model here, and what to do."""
    named = ", ".join(sorted(named_endpoints()))
    more = (
        " Only the demo model is set up; OPENAI_API_KEY or OPENAI_BASE_URL sets up a real one."
        if default_endpoint().is_demo
        else ""
    )
    return ModelError(
        f"There is no model '{handle}' here; the endpoints are: {named}.{more}"
        " Choose a model in the agent's settings, or leave it empty for the usual one."
    )


def default_model(endpoint: Endpoint, *, ask: bool = True) -> str:
    """MEMORYWEB_MODEL, or what is usual there."""
    if settings.MODEL:
        return str(settings.MODEL)
    if endpoint.is_demo:
        return DEMO_MODEL
    if endpoint.is_openai:
        return OPENAI_MODEL
    models = known_models(endpoint, ask=ask)
    if not models:
        raise ModelError(f"{endpoint} lists no model; name one in MEMORYWEB_MODEL.")
    return models[0]


_listed: dict[Endpoint, tuple[float, list[str]]] = {}
_listing: defaultdict[Endpoint, threading.Lock] = defaultdict(threading.Lock)


def known_models(endpoint: Endpoint, *, ask: bool = True) -> list[str]:
    """The models an endpoint lists, asked at most once a minute. ModelError if it does not say."""
    from .openai import list_models

    if not ask:
        if endpoint in _listed:
            return _listed[endpoint][1]
        raise ModelError(f"{endpoint} was not asked for its models yet.")
    with _listing[endpoint]:
        at, models = _listed.get(endpoint, (0.0, []))
        if not models or time.monotonic() - at > LIST_KEPT:
            models = list(list_models(endpoint))
            _listed[endpoint] = (time.monotonic(), models)
        return models
