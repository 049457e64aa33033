"""Which rows hold which words: what lexical search asks the database."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

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


def postings(scope: Scope, rows: int, wanted: Sequence[Terms]) -> dict[Terms, list[int]]:
    """For each, the newest rows that hold all its words: at most MOST_READ keys, newest first.

    `rows` is the agent's `size`.
    """
    if not wanted:
        return {}
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            return {terms: _of_fts5(cursor, scope, terms) for terms in wanted}
        if rows < MOST_COUNTED:
            return _of_few(cursor, scope, wanted)
        return _of_many(cursor, scope, wanted)


def _of_fts5(cursor: Any, scope: Scope, terms: Terms) -> list[int]:
    name = fts(scope.table)
    where, parameters = scope.dated()
    joined = f"CROSS JOIN {scope.table} r ON r.id = {name}.rowid" if where else ""
    asked = matching([scope.owner(), *scope.tagged(), *terms])
    cursor.execute(
        f"SELECT {name}.rowid FROM {name} {joined} WHERE {name} MATCH %s{_and(where)}"
        f" ORDER BY {name}.rowid DESC LIMIT %s",
        [asked, *parameters, MOST_READ],
    )
    return [key for (key,) in cursor.fetchall()]


def _of_few(cursor: Any, scope: Scope, wanted: Sequence[Terms]) -> dict[Terms, list[int]]:
    """On Postgres, of an agent with few rows: all are looked at, once."""
    where, parameters = scope.conditions()
    queries = [matching(terms) for terms in wanted]
    held = " | ".join(
        f"((r.search @@ %s::tsquery)::int::bigint << {bit})" for bit in range(len(wanted))
    )
    cursor.execute(
        f"SELECT r.id, {held} FROM {scope.table} r"
        f" WHERE r.agent_id = %s{_and(where)} AND r.search @@ %s::tsquery"
        f" ORDER BY r.{scope.order} DESC",
        [*queries, scope.agent_key, *parameters, " | ".join(f"({each})" for each in queries)],
    )
    found: dict[Terms, list[int]] = {terms: [] for terms in wanted}
    lists = list(enumerate(found.values()))
    for key, bits in cursor.fetchall():
        for bit, keys in lists:
            if bits >> bit & 1:
                keys.append(key)
    return {terms: keys[:MOST_READ] for terms, keys in found.items()}


def _of_many(cursor: Any, scope: Scope, wanted: Sequence[Terms]) -> dict[Terms, list[int]]:
    """On Postgres, of an agent with many rows: by the index."""
    where, parameters = scope.conditions()
    one = (
        f"(SELECT %s, r.id FROM {scope.table} r WHERE r.agent_id = %s{_and(where)}"
        f" AND r.search @@ %s::tsquery ORDER BY r.{scope.order} DESC LIMIT %s)"
    )
    asked: list[object] = []
    for number, terms in enumerate(wanted):
        query = matching(terms)
        asked += [number, scope.agent_key, *parameters, query, MOST_READ]
    cursor.execute(" UNION ALL ".join([one] * len(wanted)), asked)
    found: dict[Terms, list[int]] = {terms: [] for terms in wanted}
    for number, key in cursor.fetchall():
        found[wanted[number]].append(key)
    return found


def _and(where: list[str]) -> str:
    return "".join(f" AND {each}" for each in where)


# -- what is common --------------------------------------------------------------------------------

_known: dict[str, tuple[float, dict[str, float]]] = {}  # table → when it was read, and shares


def shares(scope: Scope, rows: int, words: Sequence[Forms]) -> dict[Forms, float]:
    """The query's words that are in so many rows that looking for them by themselves is no use,
    with their share of all rows.

    Postgres knows from the statistics it keeps for its planner. On SQLite, and among an agent's few
    rows, looking costs so little that nothing need be known.
    """
    if connection.vendor == "sqlite" or rows < MOST_COUNTED:
        return {}
    read, known = _known.get(scope.table, (-STATISTICS_KEPT, {}))
    if time.monotonic() - read > STATISTICS_KEPT:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT to_json(most_common_elems::text::text[])::text,"
                " to_json(most_common_elem_freqs)::text FROM pg_stats"
                " WHERE schemaname = current_schema() AND tablename = %s AND attname = 'search'",
                [scope.table],
            )
            listed = cursor.fetchone()
        known = {}
        if listed and listed[0]:
            known = dict(zip(json.loads(listed[0]), json.loads(listed[1]), strict=False))
        _known[scope.table] = (time.monotonic(), known)
    often = {word: max(known.get(form, 0.0) for form in word) for word in words}
    return {word: share for word, share in often.items() if share > COMMON}
