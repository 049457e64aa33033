"""The nearest vectors without an index of them: an exact comparison in numpy.

Each process keeps what it needs of the agents searched last, and reads only what came since. Of an
agent with few vectors that is all of them, as float32. Of one with many it is each number's sign,
one bit: 192 bytes for 1,536 numbers, so 100,000 vectors are 19 MB and 5 ms. The rows that agree
with the query in most signs are then read from the database and compared exactly.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from cachetools import LRUCache

from agents.models import MessageVector, PassageVector

if TYPE_CHECKING:
    from uuid import UUID

    from agents.models import EmbeddingModel

    from .scope import Scope

FEW_BYTES = 32_000_000  # of float32 vectors, for one agent
MOST_BYTES = 256_000_000  # for all agents
READ_AT_ONCE = 2_000  # rows
COMPARED = 800  # rows that are read and compared exactly

Of = tuple[str, "UUID", int]  # table, agent, model


class AgentVectors:
    """The vectors of one agent's rows, `keys[i]` being the row of the i-th; -1 where replaced."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.newest = 0
        self.count = 0
        self.keys = np.empty(0, np.int64)
        self.vectors: np.ndarray | None = np.empty((0, dimensions), np.float32)
        self.signs = np.empty((-(-dimensions // 64), 0), np.uint64)
        self.middle = np.zeros(dimensions, np.float32)
        self.places: dict[int, int] = {}
        self.reading = threading.Lock()

    @property
    def bytes(self) -> int:
        held = 0 if self.vectors is None else self.vectors.nbytes
        return self.keys.nbytes + held + self.signs.nbytes + 100 * len(self.places)

    def add(self, keys: np.ndarray, vectors: np.ndarray) -> None:
        """Take rows in; a row that is there already is replaced."""
        for place, key in enumerate(keys.tolist(), self.count):
            if (before := self.places.get(key)) is not None:
                self.keys[before] = -1
            self.places[key] = place
        end = self.count + len(keys)
        if self.vectors is not None and end * self.dimensions * 4 > FEW_BYTES:
            self._keep_signs_only()
        self.keys = grown(self.keys, end)
        self.keys[self.count : end] = keys
        if self.vectors is None:
            self.signs = grown(self.signs, end)
            self.signs[:, self.count : end] = self._signs_of(vectors).T
        else:
            self.vectors = grown_rows(self.vectors, end)
            self.vectors[self.count : end] = vectors
        self.count = end

    def _keep_signs_only(self) -> None:
        assert self.vectors is not None
        held = self.vectors[: self.count]
        if len(held):
            self.middle = held.mean(axis=0)
        self.signs, self.vectors = np.ascontiguousarray(self._signs_of(held).T), None

    def _signs_of(self, vectors: np.ndarray) -> np.ndarray:
        """Which numbers are above the middle: uint64, `[vectors, dimensions / 64]`."""
        bits = np.packbits(vectors > self.middle, axis=1)
        padded = np.zeros((len(vectors), len(self.signs) * 8), np.uint8)
        padded[:, : bits.shape[1]] = bits
        return padded.view(np.uint64)

    def candidates(
        self, query: np.ndarray, count: int, allowed: np.ndarray | None
    ) -> list[tuple[int, float]]:
        """Keys of the nearest rows, nearest first, with how near they are: exactly so of few, of
        many by their signs."""
        keys = self.keys[: self.count]
        if self.vectors is not None:
            far = -(self.vectors[: self.count] @ query)
        else:
            count = max(count, COMPARED)
            far = np.zeros(self.count, np.uint16)
            for held, own in zip(self.signs, self._signs_of(query[None])[0], strict=True):
                far += np.bitwise_count(held[: self.count] ^ own)
        known = keys >= 0 if allowed is None else np.isin(keys, allowed)
        keys, far = keys[known], far[known]
        if len(keys) > count:
            near = np.argpartition(far, count)[:count]
            keys, far = keys[near], far[near]
        order = np.argsort(far, kind="stable")
        return list(zip(keys[order].tolist(), (-far[order].astype(float)).tolist(), strict=True))


def grown(array: np.ndarray, size: int) -> np.ndarray:
    """An array with room for `size` in its last dimension, half as much again where it grew."""
    if array.shape[-1] >= size:
        return array
    larger = np.empty((*array.shape[:-1], size + size // 2), array.dtype)
    larger[..., : array.shape[-1]] = array
    return larger


def grown_rows(array: np.ndarray, size: int) -> np.ndarray:
    """The same for the first dimension."""
    if len(array) >= size:
        return array
    larger = np.empty((size + size // 2, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


def cache_of(most: int) -> LRUCache[Of, AgentVectors]:
    """Vectors of at most so many bytes, and of one agent in any case. The size is taken when they
    are stored, so they are stored again after they grew."""
    return LRUCache(most, getsizeof=lambda kept: min(kept.bytes, most))


_kept = cache_of(MOST_BYTES)
_lock = threading.Lock()


def nearest(
    scope: Scope, model: EmbeddingModel, query: np.ndarray, count: int
) -> list[tuple[int, float]]:
    """Keys of the rows in the scope whose vectors are nearest to `query`, nearest first, with their
    similarity."""
    of = (scope.vectors, scope.agent.pk, model.pk)
    with _lock:
        kept = _kept.setdefault(of, AgentVectors(model.dimensions))
    stored = _stored(scope.vectors)
    with kept.reading:
        for keys, vectors, newest in _read(stored, scope, model, kept.newest):
            kept.add(keys, vectors)
            kept.newest = newest
        allowed = np.array(scope.newest(1 << 30), np.int64) if scope.narrow else None
        candidates = kept.candidates(query, 2 * count, allowed)  # some may be gone by now
        exactly = kept.vectors is not None
    with _lock:
        _kept[of] = kept
    if exactly:
        return candidates[: 2 * count]
    near = [key for key, _ in candidates]
    rows = stored.objects.filter(of__in=near, model=model).values_list("of_id", "vector")
    scores = [(key, float(np.frombuffer(held, np.float32) @ query)) for key, held in rows if held]
    return sorted(scores, key=lambda scored: -scored[1])[: 2 * count]


def _stored(table: str) -> Any:
    return {each._meta.db_table: each for each in (PassageVector, MessageVector)}[table]


def _read(
    stored: Any, scope: Scope, model: EmbeddingModel, after: int
) -> Iterator[tuple[np.ndarray, np.ndarray, int]]:
    """Keys and vectors of the rows that came after `after`, and the newest of them; in parts."""
    own = stored.objects.filter(agent=scope.agent, model=model, vector__isnull=False)
    own = own.order_by("pk").values_list("pk", "of_id", "vector")
    while rows := list(own.filter(pk__gt=after)[:READ_AT_ONCE]):
        after = rows[-1][0]
        joined = np.frombuffer(b"".join(vector for _, _, vector in rows), np.float32)
        keys = np.array([key for _, key, _ in rows], np.int64)
        yield keys, joined.reshape(len(rows), -1), after


def forget() -> None:
    """Forget all vectors; they are read again."""
    with _lock:
        _kept.clear()
