"""Whether a model reads images, as far as its endpoint says so in advance.

Sources: OpenRouter's and Mistral's references of `GET /models`, LiteLLM's `supports_vision`, and
Ollama's API documentation, "Show Model Information" (`capabilities`). Where nothing is said, images
are sent, and what comes back teaches (`facts.py`).
"""

from __future__ import annotations

import time
from typing import Any

from .endpoints import Endpoint
from .model_lists import ASK_SECONDS, KEPT_SECONDS, known_models
from .ollama import capabilities, is_ollama

_shown: dict[tuple[Endpoint, str], tuple[float, list[str] | None]] = {}


def reads_images(endpoint: Endpoint, model: str, *, ask: bool = True) -> bool:
    """False where the endpoint says that a model reads no images.

    Without `ask` only what is known already counts.
    """
    if endpoint.is_openai or endpoint.is_demo:
        return True
    models = known_models(endpoint, ask=ask) or {}
    if is_ollama(models):
        able = _shown_by_ollama(endpoint, model, ask=ask)
        return able is None or "vision" in able
    return _listed(models.get(model, {}))


def _listed(model: dict[str, Any]) -> bool:
    """The same by an entry of a list of models."""
    architecture = model.get("architecture")
    if isinstance(architecture, dict):
        modalities = architecture.get("input_modalities")
        if isinstance(modalities, list) and modalities:
            return "image" in modalities
    able = model.get("capabilities")
    said = able.get("vision") if isinstance(able, dict) else model.get("supports_vision")
    return said is not False


def _shown_by_ollama(endpoint: Endpoint, model: str, *, ask: bool) -> list[str] | None:
    at, able = _shown.get((endpoint, model), (float("-inf"), None))
    if ask and time.monotonic() - at >= KEPT_SECONDS:
        able = capabilities(endpoint, model, ASK_SECONDS) or able
        _shown[endpoint, model] = (time.monotonic(), able)
    return able
