"""Which rows hold which words: what lexical search asks the database."""

from __future__ import annotations

import json
from collections.abc import Sequence
from threading import Lock
from typing import Any

from cachetools import TTLCache, cached
from django.db import connection

from agents.text.terms import Forms

from .index import fts
from .scope import Scope, matching

MOST_READ = 400  # rows of a word
MOST_COUNTED = 2_000  # rows of an agent; more are as many
COMMON = 0.004  # share of all rows; Postgres keeps count of terms that are in more
STATISTICS_KEPT = 60.0  # seconds

Terms = tuple[Forms, ...]  # words, of each of which a row holds a form; `*` is any ending


def size(scope: Scope) -> int:
    """How many rows the agent has, counted up to MOST_COUNTED."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM"
            f" (SELECT 1 FROM {scope.table} WHERE agent_id = %s LIMIT %s) AS own",
            [scope.agent_key, MOST_COUNTED],
        )
        return int(cursor.fetchone()[0])


def postings(scope: Scope, rows: int, searched: Sequence[Terms]) -> dict[Terms, list[int]]:
    """For each, the newest rows that hold all its words: at most MOST_READ keys, newest first.

    `rows` is the agent's `size`.
    """
    if not searched:
        return {}
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            return {terms: _of_fts5(cursor, scope, terms) for terms in searched}
        if rows < MOST_COUNTED:
            return _of_few(cursor, scope, searched)
        return _of_many(cursor, scope, searched)


def _of_fts5(cursor: Any, scope: Scope, terms: Terms) -> list[int]:
    name = fts(scope.table)
    where, parameters = scope.dated()
    joined = f"CROSS JOIN {scope.table} r ON r.id = {name}.rowid" if where else ""
    query = matching([scope.owner(), *scope.tagged(), *terms])
    cursor.execute(
        f"SELECT {name}.rowid FROM {name} {joined} WHERE {name} MATCH %s{_and(where)}"
        f" ORDER BY {name}.rowid DESC LIMIT %s",
        [query, *parameters, MOST_READ],
    )
    return [key for (key,) in cursor.fetchall()]


def _of_few(cursor: Any, scope: Scope, searched: Sequence[Terms]) -> dict[Terms, list[int]]:
    """On Postgres, of an agent with few rows: all are looked at, once."""
    where, parameters = scope.conditions()
    queries = [matching(terms) for terms in searched]
    held = " | ".join(
        f"((r.search @@ %s::tsquery)::int::bigint << {bit})" for bit in range(len(searched))
    )
    cursor.execute(
        f"SELECT r.id, {held} FROM {scope.table} r"
        f" WHERE r.agent_id = %s{_and(where)} AND r.search @@ %s::tsquery"
        f" ORDER BY r.{scope.order} DESC",
        [*queries, scope.agent_key, *parameters, " | ".join(f"({each})" for each in queries)],
    )
    keys_of: dict[Terms, list[int]] = {terms: [] for terms in searched}
    lists = list(enumerate(keys_of.values()))
    for key, bits in cursor.fetchall():
        for bit, keys in lists:
            if bits >> bit & 1:
                keys.append(key)
    return {terms: keys[:MOST_READ] for terms, keys in keys_of.items()}


def _of_many(cursor: Any, scope: Scope, searched: Sequence[Terms]) -> dict[Terms, list[int]]:
    """On Postgres, of an agent with many rows: by the index."""
    where, parameters = scope.conditions()
    one = (
        f"(SELECT %s, r.id FROM {scope.table} r WHERE r.agent_id = %s{_and(where)}"
        f" AND r.search @@ %s::tsquery ORDER BY r.{scope.order} DESC LIMIT %s)"
    )
    values: list[object] = []
    for number, terms in enumerate(searched):
        query = matching(terms)
        values += [number, scope.agent_key, *parameters, query, MOST_READ]
    cursor.execute(" UNION ALL ".join([one] * len(searched)), values)
    keys_of: dict[Terms, list[int]] = {terms: [] for terms in searched}
    for number, key in cursor.fetchall():
        keys_of[searched[number]].append(key)
    return keys_of


def _and(where: list[str]) -> str:
    return "".join(f" AND {each}" for each in where)


# -- what is common --------------------------------------------------------------------------------


def shares(scope: Scope, rows: int, words: Sequence[Forms]) -> dict[Forms, float]:
    """The words of a query that are too common to be searched for alone, with their share of all
    rows.

    Postgres knows from the statistics it keeps for its planner. On SQLite, and among an agent's few
    rows, looking costs so little that nothing need be known.
    """
    if connection.vendor == "sqlite" or rows < MOST_COUNTED:
        return {}
    known = common_terms(scope.table)
    often = {word: max(known.get(form, 0.0) for form in word) for word in words}
    return {word: share for word, share in often.items() if share > COMMON}


@cached(TTLCache(maxsize=8, ttl=STATISTICS_KEPT), lock=Lock())
def common_terms(table: str) -> dict[str, float]:
    """The commonest terms of a table on Postgres, each with its share of all rows."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT to_json(most_common_elems::text::text[])::text,"
            " to_json(most_common_elem_freqs)::text FROM pg_stats"
            " WHERE schemaname = current_schema() AND tablename = %s AND attname = 'search'",
            [table],
        )
        listed = cursor.fetchone()
    if not listed or not listed[0]:
        return {}
    return dict(zip(json.loads(listed[0]), json.loads(listed[1]), strict=False))
