"""The official client at each endpoint, on the background loop, and the list of models."""

from __future__ import annotations

import asyncio
import ssl
from functools import cache, lru_cache
from typing import Any

import httpx2
from django.conf import settings
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from agents import asyncio_bridge

from .demo import DemoTransport
from .endpoints import Endpoint
from .errors import model_error

CONNECT_SECONDS = 10.0
MOST_CLIENTS = 1_000  # that are kept


def client(endpoint: Endpoint) -> AsyncOpenAI:
    """The endpoint's client; made and used on the background loop only. ModelError where the
    endpoint cannot be asked."""
    endpoint.check()
    return _client(endpoint)


@lru_cache(MOST_CLIENTS)
def _client(endpoint: Endpoint) -> AsyncOpenAI:
    return AsyncOpenAI(
        base_url=endpoint.base_url,
        api_key=endpoint.api_key,
        max_retries=0,
        timeout=httpx2.Timeout(settings.MODEL_TIMEOUT, connect=CONNECT_SECONDS),
        http_client=_connections(is_demo=endpoint.is_demo),
    )


@cache
def _connections(*, is_demo: bool) -> httpx2.AsyncClient:
    """Shared by all clients, of which there is one for each person's own key."""
    if is_demo:
        return httpx2.AsyncClient(transport=DemoTransport())
    return DefaultAsyncHttpxClient(verify=_certificates())


@cache
def _certificates() -> ssl.SSLContext:
    """Read once: it takes a tenth of a second."""
    return ssl.create_default_context()


def warm_up() -> None:
    """Do at the start of a process what its first call would wait for: the client imports most of
    itself when it is used first."""

    async def connect() -> None:
        _ = AsyncOpenAI(api_key="none", http_client=_connections(is_demo=False)).models

    asyncio.run_coroutine_threadsafe(connect(), asyncio_bridge.loop()).result()


def list_models(endpoint: Endpoint, seconds: float = CONNECT_SECONDS) -> dict[str, dict[str, Any]]:
    """An endpoint's models by name, each with all it says of it. ModelError if it is silent."""

    async def ask() -> dict[str, dict[str, Any]]:
        models = client(endpoint).models.list(timeout=seconds)
        return {model.id: model.to_dict() async for model in models}

    try:
        return asyncio.run_coroutine_threadsafe(ask(), asyncio_bridge.loop()).result()
    except Exception as error:
        raise model_error(error, endpoint) from error
