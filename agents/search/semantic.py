"""Semantic search: the rows whose vectors are nearest to the query's, where a model is set."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from cachetools import LRUCache
from django.db import connection

from agents.llm import ModelError
from agents.llm.embeddings import embed, embedding_model
from agents.llm.spending import QuotaReached
from agents.models import EmbeddingModel

from . import pgvector
from .scope import Scope

if TYPE_CHECKING:
    import numpy as np

logger = logging.getLogger(__name__)

QUERY_SECONDS = 5.0  # a search waits so long for its query's vector
PAUSE_SECONDS = 30.0  # after a failure searches are lexical, without asking
LONGEST_EMBEDDED = 8_000  # characters, about what embedding models read

_vectors: LRUCache[tuple[str, str, str], np.ndarray] = LRUCache(256)  # of queries
_paused: dict[tuple[str, str], float] = {}  # until when (monotonic)
_lock = threading.Lock()


def nearest(scope: Scope, query: str, count: int) -> list[tuple[int, float]] | None:
    """Keys of the nearest rows with their similarity (cosine), nearest first; None where the query
    has no vector."""
    where = embedding_model()
    vector = vector_of(query, scope.payer_id or scope.agent.owner_id)
    if vector is None or where is None:
        return None
    model = EmbeddingModel.objects.filter(name=where[1], dimensions=len(vector)).first()
    if model is None:  # nothing is embedded yet
        return []
    if connection.vendor == "postgresql" and pgvector.is_there():
        return pgvector.nearest(scope, model, vector, count)
    # numpy takes 15 MB and 80 ms, and on Postgres with pgvector nothing else needs it
    from . import exact  # noqa: PLC0415

    return exact.nearest(scope, model, vector, count)


def vector_of(query: str, payer_id: int) -> np.ndarray | None:
    """The query's vector, asked for once; None where no model is set, it does not answer, or the
    quota of the person who would pay is used up."""
    where = embedding_model()
    if where is None:
        return None
    of = (where[0].base_url, where[1])
    query = query[:LONGEST_EMBEDDED]
    with _lock:
        if (known := _vectors.get((*of, query))) is not None:
            return known
        if time.monotonic() < _paused.get(of, 0):
            return None
    try:
        vector: np.ndarray = embed([query], QUERY_SECONDS, payer_id)[0]
    except QuotaReached as error:
        logger.info("This search is lexical only: %s", error)
        return None
    except ModelError as error:
        logger.warning("This search is lexical only: %s", error)
        _paused[of] = time.monotonic() + PAUSE_SECONDS
        return None
    with _lock:
        _vectors[*of, query] = vector
    return vector


def forget() -> None:
    """Forget the queries' vectors, and that an endpoint failed."""
    with _lock:
        _vectors.clear()
        _paused.clear()
