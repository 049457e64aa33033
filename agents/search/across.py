"""Across agents: in which of a person's agents a query's words were said or stored at all.

Search itself knows one agent at a time. Of each word the newest rows are looked at, by one query
over all of the person's agents; an agent counts by the words it has, the rare ones more.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import QuerySet

from agents.models import Agent
from agents.models.message import storable
from agents.models.role import as_stored, shared_agents
from agents.text.terms import Forms, query_terms

from .index import fts
from .postings import MOST_READ
from .scope import Conjunction, Messages, Scope, matching

AMONG = "SELECT id FROM agents_agent WHERE (owner_id = %s{shared}) AND deleted_at IS NULL"
AMONG += " AND temporary_for_id IS NULL"
LISTED = f"{AMONG} AND NOT hidden"


def agents_with(user: User, query: str, count: int, of: type[Scope] = Messages) -> list[Agent]:
    """The person's agents in which the query is to be looked for: those with most of its words (of
    no query, those with the newest rows), then those changed last, as meaning needs no word."""
    visible = Agent.objects.visible_to(user)
    weights: dict[Any, float] = defaultdict(float)
    words = query_terms(storable(query)).words
    for holders in agents_by_word(user, words, of) if words else [newest_in(visible, count, of)]:
        for agent in set(holders):
            weights[agent] += 1 / len(holders)
    best = sorted(weights, key=lambda agent: -weights[agent])[:count]
    agents = visible.in_bulk([UUID(str(agent)) for agent in best])
    rest = visible.exclude(pk__in=agents).order_by("-updated_at")[: count - len(agents)]
    return [*agents.values(), *rest]


def newest_in(agents: QuerySet[Agent], count: int, of: type[Scope]) -> list[Any]:
    """The agents of the newest rows."""
    among = {"role__in": roles} if (roles := roles_of(of)) else {}
    newest = of.model._default_manager.filter(agent__in=agents, **among).order_by("-pk")
    return list(newest.values_list("agent", flat=True)[:count])


def roles_of(of: type[Scope]) -> tuple[str, ...]:
    """The roles whose messages are searched; none of rows that have no role."""
    return Messages.roles if issubclass(of, Messages) else ()


def agents_by_word(user: User, words: list[Forms], of: type[Scope]) -> list[list[Any]]:
    """Of each word that there is, the agents of the newest rows that have it."""
    newest, owners = newest_holding("%s, r.agent_id", user, of)
    one = f"SELECT * FROM ({newest}) AS newest"
    parameters: list[Any] = []
    for number, word in enumerate(words):
        parameters += [number, matching([word]), *owners, MOST_READ]
    by_word: dict[int, list[Any]] = {}
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join([one] * len(words)), parameters)
        for number, agent in cursor.fetchall():
            by_word.setdefault(number, []).append(agent)
    return list(by_word.values())


def newest_keys(user: User, terms: Conjunction, count: int, of: type[Scope]) -> list[int]:
    """Keys of the newest rows that hold all these terms, of the agents that a person's lists
    show."""
    newest, owners = newest_holding("r.id", user, of, LISTED)
    with connection.cursor() as cursor:
        cursor.execute(newest, [matching(terms), *owners, count])
        return [key for (key,) in cursor.fetchall()]


def newest_holding(
    columns: str, user: User, of: type[Scope], among: str = AMONG
) -> tuple[str, list[Any]]:
    """SQL for the newest rows of a person's agents that hold terms, and who may see them: its
    parameters are the terms, those returned, and how many."""
    roles, table = roles_of(of), of.model._meta.db_table
    if connection.vendor == "sqlite":
        name = fts(table)
        source = f"{name} CROSS JOIN {table} r ON r.id = {name}.rowid"
        holds, newest = f"{name} MATCH %s", f"{name}.rowid"
    else:
        source, holds, newest = f"{table} r", "r.search @@ %s::tsquery", "r.id"
    shared = [as_stored(pk) for pk in shared_agents(user)]
    agents = among.format(shared=f" OR id IN ({', '.join(['%s'] * len(shared))})" if shared else "")
    said = f" AND r.role IN ({', '.join(['%s'] * len(roles))})" if roles else ""
    sql = (
        f"SELECT {columns} FROM {source} WHERE {holds} AND r.agent_id IN ({agents}){said}"
        f" ORDER BY {newest} DESC LIMIT %s"
    )
    return sql, [user.pk, *shared, *roles]
