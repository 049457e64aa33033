"""Search: the lexical list and, where a model is set, the semantic one, fused by their scores."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Literal

from agents.llm.embeddings import embedding_model
from agents.models import Message, ToolCall
from agents.models.message import storable

from . import lexical, semantic
from .scope import Scope

LISTED = 50  # of either list
WORDS, MEANING = 0.4, 0.6  # what the best by words and the best by meaning weigh
Mode = Literal["hybrid", "fts", "vector"]
SEARCHES = ("archival_memory_search", "conversation_search")


@dataclass(frozen=True)
class SearchResult:
    """Rows with their scores, best first; a listing has no scores.

    `semantic` says whether meaning counted too: None where no embedding model is set.
    """

    rows: list[tuple[Any, float | None]]
    semantic: bool | None = None


def search(scope: Scope, query: str, count: int, mode: Mode = "hybrid") -> SearchResult:
    """The best `count` rows of the scope, by words ("fts"), by meaning ("vector") or by both; with
    an empty query the newest."""
    query = storable(query).strip()
    if not query:
        keys: list[int] = scope.newest(2 * count)
        scores: dict[int, float] = {}
        used = None
    else:
        listed = max(LISTED, count)
        by_words = [] if mode == "vector" else lexical.rank(scope, query, listed, count)
        by_meaning = None if mode == "fts" else semantic.nearest(scope, query, listed)
        scores = dict(by_words) if by_meaning is None else fused(by_words, by_meaning)
        keys = sorted(scores, key=lambda key: (-scores[key], -key))
        used = None if embedding_model() is None else by_meaning is not None
    hits: list[tuple[Any, float | None]] = []
    while keys and len(hits) < count:  # one read, unless rows are gone or out of the scope
        part, keys = keys[: count + 5], keys[count + 5 :]
        rows = without_searches(scope.rows(part))
        hits += [(rows[key], scores.get(key)) for key in part if key in rows]
    return SearchResult(hits[:count], used)


def fused(
    by_words: list[tuple[int, float]], by_meaning: list[tuple[int, float]]
) -> dict[int, float]:
    """Scores of rows by both lists, each on a scale from 0 to 1.

    By words that is the share of the best one's score; by meaning, where any two texts are
    somewhat alike, the place between the least similar listed and the most.
    """
    scores: dict[int, float] = defaultdict(float)
    best = max((score for _, score in by_words), default=1.0) or 1.0
    for key, score in by_words:
        scores[key] += WORDS * score / best
    alike = [score for _, score in by_meaning]
    least, most = min(alike, default=0.0), max(alike, default=0.0)
    for key, score in by_meaning:
        scores[key] += MEANING * ((score - least) / (most - least) if most > least else 1.0)
    return dict(scores)


def without_searches(rows: dict[int, Any]) -> dict[int, Any]:
    """Rows, but for what earlier searches returned: that repeats what is found by itself."""
    steps = {row.step_id for row in rows.values() if getattr(row, "role", "") == "tool"}
    if not steps:
        return rows
    called = Message.objects.filter(step__in=steps, role=Message.Role.ASSISTANT)
    searched = {
        (message.step_id, call.id)
        for message in called
        for call in message.calls()
        if call.name in SEARCHES
    }
    return {
        key: row for key, row in rows.items() if (row.step_id, row.tool_call_id) not in searched
    }


def get_ready(call: ToolCall, payer_id: int) -> None:
    """Have a search's query embedded before the call's transaction, which waits for nobody."""
    if call.name in SEARCHES and embedding_model():
        try:
            query = json.loads(call.arguments)["query"]
        except (ValueError, LookupError, TypeError, RecursionError):
            return
        if isinstance(query, str) and (query := storable(query).strip()):
            semantic.vector_of(query, payer_id)
