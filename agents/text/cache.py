"""Results kept by the text they were made of: what is drawn of a text never changes."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from threading import Lock
from typing import Any, TypeVar, cast

from cachetools import LRUCache

T = TypeVar("T", bound=Callable[..., Any])

MOST_KEPT = 32_000_000  # characters in this process, of all results together
AROUND = 200  # characters that a result counts for beside its text

_kept: LRUCache[tuple[object, ...], Any] = LRUCache(MOST_KEPT, getsizeof=lambda entry: entry[1])
_lock = Lock()


def kept_by_text(size: Callable[[Any], int]) -> Callable[[T], T]:
    """A function of texts, and of small values, whose results are kept.

    `size` is how many characters a result takes. The texts themselves are not kept.
    """

    def wrap(function: T) -> T:
        def call(*given: Any) -> Any:
            key = (function.__module__, function.__qualname__, *map(_digest, given))
            with _lock:
                if found := _kept.get(key):
                    return found[0]
            result = function(*given)
            entry = (result, AROUND + size(result))
            if entry[1] <= MOST_KEPT // 8:
                with _lock:
                    _kept[key] = entry
            return result

        call.__doc__, call.__wrapped__ = function.__doc__, function  # type: ignore[attr-defined]
        return cast(T, call)

    return wrap


def forget_all() -> None:
    """Keep nothing."""
    with _lock:
        _kept.clear()


def _digest(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    return blake2b(given.encode("utf-8", "surrogatepass"), digest_size=20).digest()
