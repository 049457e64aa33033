"""How many tokens a model can read at once: as its endpoint says, or as is known by its name."""

from __future__ import annotations

import time
from typing import Any

from .endpoints import Endpoint
from .model_lists import ASK_SECONDS, known_models
from .ollama import context_length, is_ollama

DEFAULT = 32_000  # tokens, where nothing is known
LOADED_SECONDS = 60.0  # a model may be loaded again with another length

# What servers call it in their list of models: vLLM, OpenRouter, LM Studio (loaded, then at most),
# LiteLLM, llama.cpp (within "meta").
NAMES = (
    "max_model_len",
    "context_length",
    "context_window",
    "loaded_context_length",
    "max_context_length",
    "max_input_tokens",
    "n_ctx",
    "n_ctx_train",
)

# By the beginning of the model's name, the longest that fits.
KNOWN = {
    "gpt-3.5-turbo": 16_385,
    "gpt-4": 8_192,
    "gpt-4-turbo": 128_000,
    "gpt-4o": 128_000,
    "gpt-4.1": 1_047_576,
    "gpt-5": 272_000,
    "chatgpt-4o": 128_000,
    "o1": 200_000,
    "o3": 200_000,
    "o4-mini": 200_000,
    "claude": 200_000,
    "gemini": 1_048_576,
    "deepseek": 64_000,
    "llama-3": 8_192,
    "llama-3.1": 131_072,
    "llama-3.2": 131_072,
    "llama-3.3": 131_072,
    "llama3": 8_192,
    "llama3.1": 131_072,
    "llama3.2": 131_072,
    "llama3.3": 131_072,
    "mistral-large": 131_072,
    "mistral-small": 32_768,
    "mistral": 32_768,
    "mixtral": 32_768,
    "qwen2.5": 32_768,
    "qwen3": 32_768,
    "gemma2": 8_192,
    "gemma-2": 8_192,
    "gemma3": 131_072,
    "gemma-3": 131_072,
    "phi3": 131_072,
    "phi4": 16_384,
}


_loaded: dict[tuple[Endpoint, str], tuple[float, int | None]] = {}


def window_of(endpoint: Endpoint, model: str, *, ask: bool = True) -> int:
    """A model's context window in tokens: as an administrator says, else as the endpoint does.

    The endpoint's list of models is asked at most every ten minutes, Ollama at most every
    minute how a model is loaded. Without `ask` only what is known already counts.
    """
    defined = endpoint.models.get(model)
    if defined and defined.window:
        return defined.window
    if endpoint.is_openai or endpoint.is_demo:
        return known(model) or DEFAULT
    models = known_models(endpoint, ask=ask) or {}
    loaded = _load(endpoint, model, ask=ask) if is_ollama(models) else None
    return loaded or window_in(models.get(model, {})) or known(model) or DEFAULT


def known(model: str) -> int | None:
    """What is known of a model by its name, `vendor/` before it or not."""
    name = model.lower().rpartition("/")[2]
    fitting = [start for start in KNOWN if name.startswith(start)]
    return KNOWN[max(fitting, key=len)] if fitting else None


def _load(endpoint: Endpoint, model: str, *, ask: bool) -> int | None:
    at, tokens = _loaded.get((endpoint, model), (float("-inf"), None))
    if ask and time.monotonic() - at >= LOADED_SECONDS:
        tokens = context_length(endpoint, model, ASK_SECONDS) or tokens
        _loaded[endpoint, model] = (time.monotonic(), tokens)
    return tokens


def window_in(model: dict[str, Any]) -> int | None:
    """The window in an entry of a list of models."""
    meta = model.get("meta")
    for entry in (model, meta if isinstance(meta, dict) else {}):
        for name in NAMES:
            tokens = entry.get(name)
            if isinstance(tokens, int) and not isinstance(tokens, bool) and tokens > 0:
                return tokens
    return None
