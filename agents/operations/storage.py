"""How much is stored, by kind: rows, bytes, the oldest, and how long they are kept."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from django.apps import apps
from django.conf import settings
from django.core.cache import caches
from django.db import DatabaseError, connection
from django.utils.text import capfirst

from agents.models import Agent
from agents.models.stored_bytes import agent_sizes

COUNTED = 100_000  # rows; of larger tables on Postgres its own estimate is shown
LARGEST = 50  # agents that are shown
SIZES_SECONDS = 600
LARGEST_WALKED = 2**30  # bytes of SQLite's file; the sizes in a larger one are not looked up

# A model, which is called as in the admin; the field with its time; what says how long it is kept.
KINDS = (
    ("agents.Message", "created_at", ""),
    ("agents.Run", "created_at", ""),
    ("agents.Step", "started_at", ""),
    ("agents.RequestText", "", "requests"),
    ("agents.Event", "created_at", "events"),
    ("agents.BlockEdit", "created_at", ""),
    ("agents.Block", "created_at", ""),
    ("agents.Passage", "created_at", ""),
    ("agents.MessageVector", "", ""),
    ("agents.PassageVector", "", ""),
    ("agents.Compaction", "created_at", ""),
    ("sessions.Session", "", "sessions"),
    ("usersessions.UserSession", "created_at", "sessions"),
    ("agents.Usage", "", ""),
    ("agents.Image", "created_at", ""),
    ("agents.AuditEntry", "at", "audit"),
    ("admin.LogEntry", "action_time", "audit"),
    ("procrastinate.ProcrastinateJob", "", "jobs"),
)


class Stored(NamedTuple):
    """One kind; `bytes` and `oldest` are None where they are not known, `days` 0 for ever."""

    name: str
    rows: int
    estimated: bool
    bytes: int | None
    oldest: datetime | None
    days: float


def stored() -> list[Stored]:
    """All kinds, the largest first."""
    sizes = table_sizes()
    kinds = []
    for label, time_field, kept in KINDS:
        if not apps.is_installed("procrastinate.contrib.django") and "procrastinate" in label:
            continue
        model = apps.get_model(label)
        rows, estimated = count(model._meta.db_table)
        oldest = None
        if time_field:
            first = model._default_manager.order_by("pk").values_list(time_field, flat=True)
            oldest = first.first()
        name = capfirst(model._meta.verbose_name_plural)
        size = sizes.get(model._meta.db_table)
        days = settings.KEEP_DAYS[kept] if kept else 0
        kinds.append(Stored(name, rows, estimated, size, oldest, days))
    return sorted(kinds, key=lambda kind: -(kind.bytes or 0))


def largest_agents() -> list[tuple[Agent, int]]:
    """The agents that take most, with their bytes; added up at most every ten minutes."""
    largest = caches["default"].get("largest_agents")
    if largest is None:
        sizes = agent_sizes()
        largest = sorted(sizes.items(), key=lambda item: -item[1])[:LARGEST]
        caches["default"].set("largest_agents", largest, SIZES_SECONDS)
    agents = Agent.objects.select_related("owner").in_bulk([pk for pk, _ in largest])
    return [(agents[pk], size) for pk, size in largest if pk in agents]


def database_size() -> int:
    """Bytes of the whole database."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_database_size(current_database())")
        else:
            cursor.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        return int(cursor.fetchone()[0])


def count(table: str) -> tuple[int, bool]:
    """The rows of a table, and whether that is an estimate."""
    name = connection.ops.quote_name(table)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT reltuples FROM pg_class WHERE oid = %s::regclass", [table])
            if (estimate := int(cursor.fetchone()[0])) > COUNTED:
                return estimate, True
        cursor.execute(f"SELECT count(*) FROM {name}")
        return int(cursor.fetchone()[0]), False


def table_sizes() -> dict[str, int]:
    """Bytes of each table with its indexes; {} where SQLite cannot tell, or is too large to ask."""
    if connection.vendor == "postgresql":
        sql = "SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relkind = 'r'"
    elif database_size() > LARGEST_WALKED:
        return {}
    else:
        sql = (
            "SELECT tbl_name, sum(pgsize) FROM dbstat JOIN sqlite_master USING (name)"
            " GROUP BY tbl_name"
        )
    try:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return dict(cursor.fetchall())
    except DatabaseError:  # a SQLite without dbstat
        return {}
