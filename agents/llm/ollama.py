"""What Ollama's list of models leaves out: the context length, and what a model can do.

Ollama reads as much of a request as the model was loaded with (`num_ctx`, often 4,096 tokens,
whatever the model could read), and leaves out the rest silently. Source: its API
documentation, "List Running Models" and "Show Model Information".
"""

from __future__ import annotations

import asyncio
import re
from typing import Any

from openai import OpenAIError

from agents import asyncio_bridge

from .clients import client
from .endpoints import Endpoint

NUM_CTX = re.compile(r"^num_ctx\s+(\d+)", re.MULTILINE)


def is_ollama(listed: dict[str, dict[str, Any]]) -> bool:
    """Whether a list of models is Ollama's."""
    return any(model.get("owned_by") == "library" for model in listed.values())


def context_length(endpoint: Endpoint, model: str, seconds: float) -> int | None:
    """Tokens that a model reads: as it is loaded, else as it will be by its own parameters.

    None where neither is known, or Ollama does not answer.
    """
    root = endpoint.base_url.removesuffix("/v1")

    async def ask() -> int | None:
        at = client(endpoint)
        loaded: Any = await at.get(f"{root}/api/ps", cast_to=object, options={"timeout": seconds})
        for each in loaded.get("models", []):
            if model in (each.get("name"), each.get("model")) and each.get("context_length"):
                return int(each["context_length"])
        shown: Any = await at.post(
            f"{root}/api/show", cast_to=object, body={"model": model}, options={"timeout": seconds}
        )
        own = NUM_CTX.search(shown.get("parameters") or "")
        return int(own.group(1)) if own else None

    try:
        return asyncio.run_coroutine_threadsafe(ask(), asyncio_bridge.loop()).result()
    except (OpenAIError, AttributeError, TypeError, ValueError):
        return None


def capabilities(endpoint: Endpoint, model: str, seconds: float) -> list[str] | None:
    """What a model can do, such as "vision"; None where Ollama does not say."""
    address = f"{endpoint.base_url.removesuffix('/v1')}/api/show"

    async def ask() -> list[str] | None:
        shown: Any = await client(endpoint).post(
            address, cast_to=object, body={"model": model}, options={"timeout": seconds}
        )
        able = shown.get("capabilities")
        return [str(each) for each in able] if isinstance(able, list) and able else None

    try:
        return asyncio.run_coroutine_threadsafe(ask(), asyncio_bridge.loop()).result()
    except (OpenAIError, AttributeError, TypeError, ValueError):
        return None
