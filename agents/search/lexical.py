"""Lexical search: the rows that hold any word of the query, those with the rarest words first.

Rows are looked for by each of the query's rarer words, of which `postings` reads the newest rows
only, so that a word that stands everywhere costs no more than one that stands in few places. Where
that gives few, by several common words together, then by one of them. The best of what is found are
read, and ranked by BM25 over their texts. In a conversation what was said right before and after a
hit is worth a part of it: the answer often holds no word of the question.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator

from agents.models.message import storable
from agents.text.folding import words_of
from agents.text.terms import MARKS, Forms, Query, forms_of, query_terms

from .postings import MOST_READ, Terms, postings, shares, size
from .scope import Scope

MOST_RANKED = 60  # rows whose texts are compared
TEXT_COMPARED = 10_000  # characters
BEGINNINGS = 4  # words that occur nowhere, and are looked for by their beginning
OF_BEGINNING = 0.6  # how much such a match counts
K1, B = 1.2, 0.4  # BM25; messages differ in length for no reason, so that counts little
NEIGHBOURS = (0.4, 0.2)  # of a hit's score, for the nearest message on either side and the next
HITS_WITH_NEIGHBOURS = 30


def rank(scope: Scope, query: str, count: int, least: int) -> list[tuple[int, float]]:
    """Keys of the best `count` rows with their scores, best first.

    Common words are looked for where rarer ones find fewer than `least`.
    """
    parsed = query_terms(storable(query))
    words = parsed.words
    if not words:
        return []
    rows = size(scope)
    often = {word: share * rows for word, share in shares(scope, rows, words).items()}
    matches = postings(scope, rows, [(word,) for word in words if word not in often])
    missing = [held[0] for held, keys in matches.items() if not keys and len(held[0][0]) > 4]
    if not (scope.narrow and any(matches.values())):  # the beginnings of words cost most there
        matches |= postings(scope, rows, [(beginning(word),) for word in missing[:BEGINNINGS]])
    for held, keys in matches.items():
        if len(keys) >= MOST_READ:
            often[held[0]] = estimated(rows, keys)
    weights = {held[0]: weigh(rows, len(keys)) for held, keys in matches.items()}
    weights |= {word: weigh(rows, times) for word, times in often.items()}
    common = sorted(often, key=lambda word: often[word])
    enough = sum(len(keys) for held, keys in matches.items() if held[0] not in often) >= least
    for together in sorted({1, 2, 3, len(common)}, reverse=True):
        if not enough and together <= len(common) and (held := tuple(common[:together])):
            matches |= postings(scope, rows, [held])
            enough = len(matches[held]) >= least
    likely = likeliest(matches, weights, max(MOST_RANKED, count))
    scores = bm25(scope, parsed, likely, weights, matches)
    shared = with_neighbours(scope, scores)
    if len(words) == 1:  # a word is looked up: only what holds it is found
        shared = {key: shared[key] for key in scores}
    return best(shared)[:count]


def beginning(word: Forms) -> Forms:
    """The beginning by which other forms of a word are found."""
    return (word[0][: max(4, len(word[0]) - 3)] + "*",)


def estimated(rows: int, keys: list[int]) -> float:
    """How often a word occurs whose newest keys these are: the closer they lie, the oftener."""
    return max(len(keys), rows * len(keys) / (max(keys) - min(keys) + 1))


def weigh(rows: int, often: float) -> float:
    """How much a word tells that is in `often` of the rows (idf)."""
    return math.log(1 + (max(0.0, rows - often) + 0.5) / (often + 0.5))


def likeliest(
    matches: dict[Terms, list[int]], weights: dict[Forms, float], count: int
) -> list[int]:
    """The keys found with the most weight, of equals the newest."""
    rough: dict[int, float] = defaultdict(float)
    for held, keys in matches.items():
        weight = sum(weights[word] for word in held)
        for key in keys:
            rough[key] = rough[key] + weight if len(held) == 1 else max(rough[key], weight)
    return sorted(rough, key=lambda key: (-rough[key], -key))[:count]


def bm25(
    scope: Scope,
    query: Query,
    keys: list[int],
    weights: dict[Forms, float],
    matches: dict[Terms, list[int]],
) -> dict[int, float]:
    """The scores of these rows by BM25."""
    holding = {held[0]: set(keys) for held, keys in matches.items() if len(held) == 1}
    asked_by = {form: word for word in weights for form in word}
    initials = {form.lstrip(MARKS)[0] for form in asked_by}  # a word and its stem have one initial
    hits: dict[str, list[Forms]] = {}  # of each word of the texts, the query's words that it is
    texts = scope.texts(keys)
    average = sum(map(len, texts.values())) / max(1, len(texts)) or 1
    scores = {}
    for key, text in texts.items():
        counts: dict[Forms, int] = defaultdict(int)
        for word in words_of(text[:TEXT_COMPARED]):
            if word[0] not in initials and word.isascii():
                continue
            if (hit := hits.get(word)) is None:
                hit = hits[word] = list(hits_of(word, query.languages, asked_by))
            for each in hit:
                counts[each] += 1
        length = K1 * (1 - B + B * len(text) / average)
        scores[key] = 0.0
        for held, weight in weights.items():
            if often := counts[held] or (key in holding.get(held, ())):
                part = OF_BEGINNING if held[0].endswith("*") else 1
                scores[key] += part * weight * often * (K1 + 1) / (often + length)
    return scores


def hits_of(word: str, languages: tuple[str, ...], asked_by: dict[str, Forms]) -> Iterator[Forms]:
    """The words of a query that a word of a text is a form of."""
    for forms in forms_of(word, languages):
        if hit := next((asked_by[form] for form in forms if form in asked_by), None):
            yield hit


def with_neighbours(scope: Scope, scores: dict[int, float]) -> dict[int, float]:
    """The scores, and those of the rows said around the best hits, each with a part of theirs."""
    hits = [key for key, _ in best(scores)[:HITS_WITH_NEIGHBOURS]]
    shared: dict[int, float] = defaultdict(float, scores)
    for hit, around in scope.neighbours(hits, len(NEIGHBOURS)).items():
        for key, distance in around.items():
            shared[key] += NEIGHBOURS[distance - 1] * scores[hit]
    return shared


def best(scores: dict[int, float]) -> list[tuple[int, float]]:
    """Keys with their scores, best first; of equals the newest."""
    return sorted(scores.items(), key=lambda scored: (-scored[1], -scored[0]))
