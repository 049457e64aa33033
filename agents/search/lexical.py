"""Lexical search: the rows that hold any term of the query, those with the rarest terms first.

Rows are looked for by each of the query's rarer terms, of which `postings` reads the newest rows
only, so that a word that stands everywhere costs no more than one that stands in few places. Where
that gives few, by several common terms together, then by one of them. The best of what is found are
read, and ranked by BM25 over their texts.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict

from . import words
from .postings import MOST_READ, Terms, postings, shares, size
from .scope import Scope

MOST_RANKED = 60  # rows whose texts are compared
TEXT_COMPARED = 10_000  # characters
BEGINNINGS = 4  # terms that occur nowhere, and are looked for by their beginning
OF_BEGINNING = 0.6  # what such a find weighs
K1, B = 1.2, 0.75  # BM25


def rank(scope: Scope, query: str, count: int, wanted: int) -> list[tuple[int, float]]:
    """Keys of the best `count` rows with their scores, best first.

    Common words are looked for where rarer ones find fewer than are `wanted`.
    """
    terms = words.query_terms(query)
    if not terms:
        return []
    rows = size(scope)
    often = {term: share * rows for term, share in shares(scope, rows, terms).items()}
    found = postings(scope, rows, [(term,) for term in terms if term not in often])
    missing = [held[0] for held, keys in found.items() if not keys and len(held[0]) > 4]
    if not (scope.narrow and any(found.values())):  # the beginnings of words cost most there
        found |= postings(scope, rows, [(beginning(term),) for term in missing[:BEGINNINGS]])
    for held, keys in found.items():
        if len(keys) >= MOST_READ:
            often[held[0]] = estimated(rows, keys)
    weights = {held[0]: weigh(rows, len(keys)) for held, keys in found.items()}
    weights |= {term: weigh(rows, times) for term, times in often.items()}
    common = sorted(often, key=lambda term: often[term])
    enough = sum(len(keys) for held, keys in found.items() if held[0] not in often) >= wanted
    for together in sorted({1, 2, 3, len(common)}, reverse=True):
        if not enough and together <= len(common) and (held := tuple(common[:together])):
            found |= postings(scope, rows, [held])
            enough = len(found[held]) >= wanted
    return bm25(scope, roughly(found, weights, max(MOST_RANKED, count)), weights, found)[:count]


def beginning(term: str) -> str:
    """The beginning by which other forms of a word are found."""
    return term[: max(4, len(term) - 3)] + "*"


def estimated(rows: int, keys: list[int]) -> float:
    """How often a term occurs whose newest keys these are: the closer they lie, the oftener."""
    return max(len(keys), rows * len(keys) / (max(keys) - min(keys) + 1))


def weigh(rows: int, often: float) -> float:
    """How much a term tells that is in `often` of the rows (idf)."""
    return math.log(1 + (max(0.0, rows - often) + 0.5) / (often + 0.5))


def roughly(found: dict[Terms, list[int]], weights: dict[str, float], count: int) -> list[int]:
    """The keys found with the most weight, of equals the newest."""
    rough: dict[int, float] = defaultdict(float)
    for held, keys in found.items():
        weight = sum(weights[term] for term in held)
        for key in keys:
            rough[key] = rough[key] + weight if len(held) == 1 else max(rough[key], weight)
    return sorted(rough, key=lambda key: (-rough[key], -key))[:count]


def bm25(
    scope: Scope, keys: list[int], weights: dict[str, float], found: dict[Terms, list[int]]
) -> list[tuple[int, float]]:
    """These rows by BM25, best first; of equals the newest."""
    holding = {held[0]: set(keys) for held, keys in found.items() if len(held) == 1}
    texts = scope.texts(keys)
    average = sum(map(len, texts.values())) / max(1, len(texts)) or 1
    scores = {}
    for key, text in texts.items():
        counts = Counter(words.tokens(text[:TEXT_COMPARED]))
        length = K1 * (1 - B + B * len(text) / average)
        scores[key] = 0.0
        for term, weight in weights.items():
            if often := counts[term] or (key in holding.get(term, ())):
                part = OF_BEGINNING if term.endswith("*") else 1
                scores[key] += part * weight * often * (K1 + 1) / (often + length)
    return sorted(scores.items(), key=lambda scored: (-scored[1], -scored[0]))
