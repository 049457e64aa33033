"""Semantic search: the rows whose vectors are nearest to the query's, where a model is set."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from django.db import connection

from agents.llm import ModelError
from agents.llm.embeddings import embed, embedding_model
from agents.models import EmbeddingModel

from . import pgvector
from .scope import Scope

if TYPE_CHECKING:
    import numpy as np

logger = logging.getLogger(__name__)

QUERY_SECONDS = 5.0  # a search waits so long for its query's vector
PAUSE_SECONDS = 30.0  # after a failure searches are lexical, without asking
QUERIES_KEPT = 256
LONGEST_EMBEDDED = 8_000  # characters, about what embedding models read

_kept: OrderedDict[tuple[str, str, str], np.ndarray] = OrderedDict()
_paused: dict[tuple[str, str], float] = {}  # until when (monotonic)
_choosing = threading.Lock()


def nearest(scope: Scope, query: str, count: int) -> list[tuple[int, float]] | None:
    """Keys of the nearest rows with their similarity (cosine), nearest first; None where the query
    has no vector."""
    where = embedding_model()
    asked = vector_of(query)
    if asked is None or where is None:
        return None
    model = EmbeddingModel.objects.filter(name=where[1], dimensions=len(asked)).first()
    if model is None:  # nothing is embedded yet
        return []
    if connection.vendor == "postgresql" and pgvector.is_there():
        return pgvector.nearest(scope, model, asked, count)
    # numpy takes 15 MB and 80 ms, and on Postgres with pgvector nothing else needs it
    from . import exact

    return exact.nearest(scope, model, asked, count)


def vector_of(query: str) -> np.ndarray | None:
    """The query's vector, asked for once; None where no model is set, or it does not answer."""
    where = embedding_model()
    if where is None:
        return None
    of = (where[0].base_url, where[1])
    query = query[:LONGEST_EMBEDDED]
    with _choosing:
        if (kept := _kept.get((*of, query))) is not None:
            _kept.move_to_end((*of, query))
            return kept
        if time.monotonic() < _paused.get(of, 0):
            return None
    try:
        vector: np.ndarray = embed([query], QUERY_SECONDS)[0]
    except ModelError as error:
        logger.warning("This search is lexical only: %s", error)
        _paused[of] = time.monotonic() + PAUSE_SECONDS
        return None
    with _choosing:
        _kept[*of, query] = vector
        if len(_kept) > QUERIES_KEPT:
            _kept.popitem(last=False)
    return vector


def forget() -> None:
    """Forget the queries' vectors, and that an endpoint failed."""
    with _choosing:
        _kept.clear()
        _paused.clear()
