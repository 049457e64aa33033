"""Rows stored many at once, with the times the file gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connection, models

BATCH = 1000  # rows written at once


def store(rows: Sequence[Any]) -> None:
    """Store new rows of one model; a time that is otherwise set to now stays what it is."""
    if not rows:
        return
    model: type[models.Model] = type(rows[0])
    fields = [f for f in model._meta.concrete_fields if getattr(f, "auto_now_add", False)]
    moments = [[getattr(row, field.attname) for field in fields] for row in rows]
    model._default_manager.bulk_create(rows, batch_size=BATCH)
    if not fields:
        return
    meta, quote = model._meta, connection.ops.quote_name
    columns = ", ".join(f"{quote(field.attname)} = %s" for field in fields)
    with connection.cursor() as cursor:
        cursor.executemany(
            f"UPDATE {quote(meta.db_table)} SET {columns} WHERE {quote(meta.pk.attname)} = %s",
            [
                [*map(connection.ops.adapt_datetimefield_value, times), row.pk]
                for row, times in zip(rows, moments, strict=True)
            ],
        )
    for row, times in zip(rows, moments, strict=True):
        for field, moment in zip(fields, times, strict=True):
            setattr(row, field.attname, moment)
