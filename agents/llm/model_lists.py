"""The models that an endpoint lists, kept for a while, for all who want to know."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from contextlib import suppress
from typing import Any, NamedTuple

from .clients import CONNECT_SECONDS, list_models
from .endpoints import Endpoint, ModelError

Models = dict[str, dict[str, Any]]  # by name, each with all that the endpoint says of it

FRESH_SECONDS = 60.0  # then a model that is not listed may be there
KEPT_SECONDS = 600.0  # then what is said of a model is asked for again
ASK_SECONDS = 3.0  # of a run that waits for it


class Listing(NamedTuple):
    """The newest list of an endpoint, and when it was asked for last, with or without success."""

    models: Models | None = None
    listed_at: float = float("-inf")
    asked_at: float = float("-inf")


_kept: dict[Endpoint, Listing] = {}
_asking: defaultdict[Endpoint, threading.RLock] = defaultdict(threading.RLock)


def models_of(
    endpoint: Endpoint, seconds: float = CONNECT_SECONDS, max_age: float = FRESH_SECONDS
) -> Models:
    """The models an endpoint lists; ModelError if it does not answer."""
    with _asking[endpoint]:
        kept = _kept.get(endpoint, Listing())
        if kept.models and time.monotonic() - kept.listed_at <= max_age:
            return kept.models
        try:
            models = list_models(endpoint, seconds)
        except ModelError:
            _kept[endpoint] = kept._replace(asked_at=time.monotonic())
            raise
        _kept[endpoint] = Listing(models, time.monotonic(), time.monotonic())
        return models


def known_models(endpoint: Endpoint, *, ask: bool = True) -> Models | None:
    """The same without an error, where any list is known; asked for at most every ten minutes."""
    if ask and _is_due(endpoint):
        with _asking[endpoint], suppress(ModelError):
            if _is_due(endpoint):
                models_of(endpoint, ASK_SECONDS, KEPT_SECONDS)
    return _kept.get(endpoint, Listing()).models


def _is_due(endpoint: Endpoint) -> bool:
    return time.monotonic() - _kept.get(endpoint, Listing()).asked_at >= KEPT_SECONDS


def forget() -> None:
    """Ask anew at the next use; for tests."""
    _kept.clear()
