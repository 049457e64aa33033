"""The official client at each endpoint, on the background loop, and the list of models."""

from __future__ import annotations

import asyncio
import ssl
from functools import cache
from typing import Any

import httpx2
from django.conf import settings
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from agents import asyncio_bridge

from .demo import DemoTransport
from .endpoints import Endpoint
from .errors import model_error

CONNECT_SECONDS = 10.0


@cache
def client(endpoint: Endpoint) -> AsyncOpenAI:
    """The endpoint's client; made and used on the background loop only."""
    transport: httpx2.AsyncClient = DefaultAsyncHttpxClient(verify=_certificates())
    if endpoint.is_demo:
        transport = httpx2.AsyncClient(transport=DemoTransport())
    return AsyncOpenAI(
        base_url=endpoint.base_url,
        api_key=endpoint.api_key,
        max_retries=0,
        timeout=httpx2.Timeout(settings.MODEL_TIMEOUT, connect=CONNECT_SECONDS),
        http_client=transport,
    )


@cache
def _certificates() -> ssl.SSLContext:
    """Read once: it takes a tenth of a second."""
    return ssl.create_default_context()


def list_models(endpoint: Endpoint, seconds: float = CONNECT_SECONDS) -> dict[str, dict[str, Any]]:
    """An endpoint's models by name, each with all it says of it. ModelError if it is silent."""

    async def ask() -> dict[str, dict[str, Any]]:
        models = client(endpoint).models.list(timeout=seconds)
        return {model.id: model.to_dict() async for model in models}

    try:
        return asyncio.run_coroutine_threadsafe(ask(), asyncio_bridge.loop()).result()
    except Exception as error:
        raise model_error(error, endpoint) from error
