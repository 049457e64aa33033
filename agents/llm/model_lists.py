"""The models that an endpoint lists, kept for a while, for all who want to know."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import Any

from cachetools import LRUCache

from .clients import CONNECT_SECONDS, list_models
from .endpoints import Endpoint, ModelError

Models = dict[str, dict[str, Any]]  # by name, each with all that the endpoint says of it

FRESH_SECONDS = 60.0  # then a model that is not listed may be there
KEPT_SECONDS = 600.0  # then what is said of a model is asked for again
ASK_SECONDS = 3.0  # of a run that waits for it
MOST_KEPT = 1_000  # lists: with a key of one's own, each person has one


class Listing:
    """The newest list of an endpoint, and when it was asked for last, with or without success."""

    def __init__(self) -> None:
        self.models: Models | None = None
        self.listed_at = self.asked_at = float("-inf")
        self.asking = threading.RLock()

    @property
    def is_due(self) -> bool:
        return time.monotonic() - self.asked_at >= KEPT_SECONDS


_kept: LRUCache[Endpoint, Listing] = LRUCache(MOST_KEPT)
_lock = threading.Lock()


def models_of(
    endpoint: Endpoint, seconds: float = CONNECT_SECONDS, max_age: float = FRESH_SECONDS
) -> Models:
    """The models an endpoint lists; ModelError if it does not answer."""
    listing = _listing(endpoint)
    with listing.asking:
        if listing.models and time.monotonic() - listing.listed_at <= max_age:
            return listing.models
        try:
            listing.models = list_models(endpoint, seconds)
            listing.listed_at = time.monotonic()
            return listing.models
        finally:
            listing.asked_at = time.monotonic()


def known_models(endpoint: Endpoint, *, ask: bool = True) -> Models | None:
    """The same without an error, where any list is known; asked for at most every ten minutes."""
    listing = _listing(endpoint)
    if ask and listing.is_due:
        with listing.asking, suppress(ModelError):
            if listing.is_due:
                models_of(endpoint, ASK_SECONDS, KEPT_SECONDS)
    return listing.models


def _listing(endpoint: Endpoint) -> Listing:
    with _lock:
        return _kept.setdefault(endpoint, Listing())


def forget() -> None:
    """Ask anew at the next use; for tests."""
    _kept.clear()
