"""Vectors on Postgres with pgvector: half precision, HNSW with cosine distance for each model.

Where the extension is not there, the column stays a bytea and `exact` compares them all.
"""

from __future__ import annotations

import logging
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from django.db import connection, transaction

from agents.models.event import in_snapshot

if TYPE_CHECKING:
    import numpy as np

    from agents.models import EmbeddingModel

    from .scope import Scope

logger = logging.getLogger(__name__)

TABLES = ("agents_passagevector", "agents_messagevector")
MOST_INDEXED = 4000  # dimensions an HNSW index of half precision takes
FEW = 2_000  # vectors of an agent: so many are compared one by one, which finds all
LOOKED_AT = 100  # `hnsw.ef_search`


def install(cursor: Any) -> None:
    """Keep vectors as pgvector has them, as soon as it is there; older ones are made again."""
    if is_there(cursor):
        return
    cursor.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")
    if not cursor.fetchone():
        logger.warning(
            "This Postgres has no pgvector: without it semantic search compares all vectors one"
            " by one. Install the extension and start again to have them indexed."
        )
        return
    try:
        with transaction.atomic():
            cursor.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except Exception as error:
        logger.warning(
            "pgvector is installed, and this account may not create it (%s): have an administrator"
            " run CREATE EXTENSION vector in this database, then start again.",
            error,
        )
        return
    for table in TABLES:
        cursor.execute(f"TRUNCATE {table}")
        cursor.execute(f"ALTER TABLE {table} DROP COLUMN vector, ADD COLUMN vector halfvec")
        cursor.execute(f"ALTER TABLE {table} ALTER COLUMN vector SET STORAGE EXTERNAL")


def is_there(cursor: Any = None) -> bool:
    """Whether vectors are kept as pgvector has them."""
    if cursor is None:
        with connection.cursor() as own:
            return is_there(own)
    cursor.execute(
        "SELECT atttypid::regtype::text FROM pg_attribute"
        " WHERE attrelid = %s::regclass AND attname = 'vector'",
        [TABLES[0]],
    )
    return bool(cursor.fetchone()[0] == "halfvec")


def prepare(model: EmbeddingModel) -> None:
    """Have an HNSW index of the model's vectors, made while others go on writing."""
    if model.dimensions > MOST_INDEXED:
        return
    waiting = "" if connection.in_atomic_block else "CONCURRENTLY "
    with connection.cursor() as cursor:
        for table in TABLES:
            name = f"{table}_hnsw_{model.pk}"
            cursor.execute(
                "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)", [name]
            )
            index = cursor.fetchone()
            if index == (True,):
                continue
            if index:  # whoever made it was killed
                cursor.execute(f"DROP INDEX {waiting}IF EXISTS {name}")
            cursor.execute(
                f"CREATE INDEX {waiting}IF NOT EXISTS {name} ON {table} USING hnsw"
                f" ((vector::halfvec({model.dimensions})) halfvec_cosine_ops)"
                f" WHERE model_id = {model.pk}"
            )


def store(table: str, rows: list[tuple[Any, int, int, np.ndarray | None]]) -> None:
    """Store vectors: agent, model, row and the vector, which replaces what the row had."""
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {table} WHERE of_id = ANY(%s)", [[row[2] for row in rows]])
        cursor.executemany(
            f"INSERT INTO {table} (agent_id, model_id, of_id, vector) VALUES (%s, %s, %s, %s)",
            [(*row[:3], None if row[3] is None else literal(row[3])) for row in rows],
        )


def literal(vector: np.ndarray) -> str:
    return "[" + ",".join(format(value, ".6g") for value in vector.tolist()) + "]"


def nearest(
    scope: Scope, model: EmbeddingModel, query: np.ndarray, count: int
) -> list[tuple[int, float]]:
    """Keys of the rows in the scope whose vectors are nearest to `query`, nearest first, with their
    similarity."""
    with nullcontext() if in_snapshot() else transaction.atomic():
        return _nearest(scope, model, query, count)


def _nearest(
    scope: Scope, model: EmbeddingModel, query: np.ndarray, count: int
) -> list[tuple[int, float]]:
    table = scope.vectors
    where, parameters = scope.conditions()
    own = f"v.agent_id = %s AND v.model_id = {model.pk} AND v.vector IS NOT NULL"
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT count(*) FROM (SELECT 1 FROM {table} v WHERE {own} LIMIT {FEW + 1}) AS own",
            [scope.agent.pk],
        )
        if cursor.fetchone()[0] <= FEW or model.dimensions > MOST_INDEXED:
            distance = "v.vector <=> %s::halfvec"
        else:
            distance = f"v.vector::halfvec({model.dimensions}) <=> %s::halfvec({model.dimensions})"
            cursor.execute(f"SET LOCAL hnsw.ef_search = {LOOKED_AT}")
            cursor.execute("SET LOCAL hnsw.iterative_scan = relaxed_order")
        joined = f"JOIN {scope.table} r ON r.id = v.of_id" if where else ""
        cursor.execute(
            f"SELECT v.of_id, {distance} AS distance FROM {table} v {joined} WHERE {own}"
            f"{''.join(f' AND {each}' for each in where)} ORDER BY distance LIMIT %s",
            [literal(query), scope.agent.pk, *parameters, count],
        )
        return [(key, 1.0 - distance) for key, distance in cursor.fetchall()]
