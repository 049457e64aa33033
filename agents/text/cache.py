"""Results kept by the text they were made of: what is drawn of a text never changes, or, where it
has words of ours, never changes in a language."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from hashlib import blake2b
from threading import Lock
from typing import Any, ParamSpec, Protocol, TypeVar, cast

from cachetools import LRUCache
from django.utils.translation import get_language

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
R = TypeVar("R")

MOST_KEPT = 32_000_000  # characters in this process, of all results together
AROUND = 200  # characters that a result counts for beside its text

_kept: LRUCache[tuple[object, ...], Any] = LRUCache(MOST_KEPT, getsizeof=lambda entry: entry[1])
_lock = Lock()


class CachedByText(Protocol[P, R_co]):
    """A function whose results are kept."""

    __wrapped__: Callable[..., Any]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...

    def keep(self, result: Any, *args: P.args, **kwargs: P.kwargs) -> None: ...


def cached_by_text(
    size: Callable[[Any], int], *, has_words: bool = False
) -> Callable[[Callable[P, R]], CachedByText[P, R]]:
    """A function of texts, and of small values, whose results are kept.

    `size` is how many characters a result takes; with `has_words` one is kept for each language.
    The texts themselves are not kept. Whoever has the result by other means hands it over:
    `function.keep(result, *texts)`.
    """

    def wrap(function: Callable[P, R]) -> CachedByText[P, R]:
        name = (function.__module__, function.__qualname__)

        def key_of(args: tuple[object, ...]) -> tuple[object, ...]:
            language = get_language() if has_words else None
            return (*name, language, *map(_digest, args))

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            key = key_of(args)
            with _lock:
                if entry := _kept.get(key):
                    return cast(R, entry[0])
            result = function(*args, **kwargs)
            _keep(key, result, size)
            return result

        def keep(result: Any, *args: Any) -> None:
            _keep(key_of(args), result, size)

        call.keep = keep  # type: ignore[attr-defined]
        return cast("CachedByText[P, R]", call)

    return wrap


def _keep(key: tuple[object, ...], result: Any, size: Callable[[Any], int]) -> None:
    entry = (result, AROUND + size(result))
    if entry[1] <= MOST_KEPT // 8:
        with _lock:
            _kept[key] = entry


def forget_all() -> None:
    """Keep nothing."""
    with _lock:
        _kept.clear()


def _digest(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return blake2b(value.encode("utf-8", "surrogatepass"), digest_size=20).digest()
