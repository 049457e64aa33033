"""Rows stored in batches, so that others can write meanwhile, with the times in the file."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import connection, models, transaction
from django.utils import timezone

BATCH = 250  # rows written in one transaction
PAUSE = 0.03  # seconds between two of them, at the least


@contextmanager
def batch() -> Iterator[None]:
    """A transaction, after which others have as much time to write.

    SQLite lets one connection write at a time, and the others only ask again now and then: without
    the pause they would wait until the whole import is done.
    """
    with transaction.atomic():
        began = time.monotonic()
        yield
    if not connection.in_atomic_block:
        rest(time.monotonic() - began)


def rest(written: float) -> None:
    """Give others as much time as this import has been writing."""
    if connection.vendor == "sqlite":
        time.sleep(max(PAUSE, written))


def batches_of(rows: Sequence[Any], size: int = BATCH) -> Iterator[Sequence[Any]]:
    """The rows in batches, each in a transaction of its own."""
    for start in range(0, len(rows), size):
        with batch():
            yield rows[start : start + size]


def store(rows: Sequence[Any]) -> None:
    """Store new rows of one model, in batches."""
    for some in batches_of(rows):
        store_at_once(some)


def store_at_once(rows: Sequence[Any]) -> None:
    """Store new rows of one model with their own times, which `bulk_create` would set to now."""
    model: type[models.Model] = type(rows[0])
    meta = model._meta
    fields = [field for field in meta.concrete_fields if not isinstance(field, models.AutoField)]
    clocks = [
        f for f in fields if getattr(f, "auto_now", False) or getattr(f, "auto_now_add", False)
    ]
    now = timezone.now()
    for row in rows:
        for field in clocks:
            if getattr(row, field.attname) is None:
                setattr(row, field.attname, now)
    returned = model._base_manager.all()._insert(  # type: ignore[attr-defined]
        rows, fields, meta.db_returning_fields, raw=True, using=connection.alias
    )
    for row, values in zip(rows, returned or [()] * len(rows), strict=True):
        for field, value in zip(meta.db_returning_fields, values, strict=True):
            setattr(row, field.attname, value)
        row._state.adding, row._state.db = False, connection.alias


def remove(rows: models.QuerySet[Any]) -> None:
    """Delete rows, in batches."""
    while keys := list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH]):
        with batch():
            rows.model._default_manager.filter(pk__in=keys).delete()
