"""The database: there, prepared, with workers, room for connections, and the same time."""

from __future__ import annotations

from datetime import UTC, datetime

from django.conf import settings
from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from agents.models.database_errors import database_problem
from agents.models.encryption import Under
from agents.operations.connections import SPARE, look
from agents.operations.kept_secrets import counted
from agents.search import pgvector as vectors

from .check import Found, failed, ok, warning

OLDEST_POSTGRES = 14
MIGRATING = 8283  # the key of the advisory lock of `manage.py prepare`
BEING_PREPARED = "another process is preparing the database"
PREPARE = f"Run `{settings.COMMAND} prepare` once for each version."
WAITS_LONG = 60  # seconds of the oldest job
CLOCKS_DIFFER = 2.0  # seconds; a worker counts as dead after 15


def answers() -> Found:
    """Whether it answers, and its version."""
    try:
        with connection.cursor() as cursor:
            if connection.vendor == "sqlite":
                cursor.execute("SELECT sqlite_version()")
                return ok("database", f"SQLite {cursor.fetchone()[0]} in {settings.DATA}")
            cursor.execute("SELECT current_setting('server_version_num')::int / 10000, version()")
            major, version = cursor.fetchone()
    except Error as error:
        words = database_problem(error) or str(error)
        return failed("database", words, "Is DATABASE_URL right, and the server running?")
    words = " ".join(version.split()[:2])
    if major < OLDEST_POSTGRES:
        return failed("database", words, f"memoryweb needs Postgres {OLDEST_POSTGRES} or newer.")
    return ok("database", words)


def is_prepared() -> Found:
    """Whether it has the tables of this version."""
    missing = unprepared()
    return failed("migrations", missing, PREPARE) if missing else ok("migrations", "all applied")


def unprepared() -> str:
    """What keeps this version from using the database, in words; "" if nothing does."""
    try:
        executor = MigrationExecutor(connection)
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
        if plan:
            names = ", ".join(f"{m.app_label}.{m.name}" for m, _ in plan[:3])
            more = f" and {len(plan) - 3} more" if len(plan) > 3 else ""
            return (
                f"migrations are missing ({names}{more}), which"
                f" `{settings.COMMAND} prepare` applies"
            )
        if settings.HOSTED and not _lock_is_free():
            return BEING_PREPARED
        return ""
    except Error as error:
        if words := database_problem(error):
            return words[0].lower() + words[1:].rstrip(".")
        raise


def _lock_is_free() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock_shared(%s)", [MIGRATING])
        if not cursor.fetchone()[0]:
            return False
        cursor.execute("SELECT pg_advisory_unlock_shared(%s)", [MIGRATING])
        return True


def pgvector() -> Found:
    """Whether vectors are compared by the database, where there are any."""
    if not settings.EMBEDDING_MODEL:
        return ok("pgvector", "not needed: search is by words (MEMORYWEB_EMBEDDING_MODEL is unset)")
    if connection.vendor == "sqlite":
        return ok("pgvector", "not needed on SQLite: vectors are compared in this process")
    if vectors.is_there():
        return ok("pgvector", "installed; vectors are compared by the database")
    return warning(
        "pgvector",
        "not there: vectors are compared in Python, which is slow from some 100,000 on",
        f"Install pgvector on the server, then run `{settings.COMMAND} prepare`.",
    )


def workers() -> Found:
    """Whether somebody executes runs, and how long jobs wait."""
    if not settings.HOSTED:
        return ok("workers", f"none needed: `{settings.COMMAND} serve` executes the runs")
    seconds = settings.PROCRASTINATE_WORKER_DEFAULTS["stalled_worker_timeout"]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM procrastinate_workers"
            " WHERE last_heartbeat > now() - make_interval(secs => %s)",
            [seconds],
        )
        ((alive,),) = cursor.fetchall()
        cursor.execute(
            "SELECT count(*), coalesce(extract(epoch FROM now() - min(e.at)), 0)"
            " FROM procrastinate_jobs j JOIN procrastinate_events e ON e.job_id = j.id"
            " WHERE j.status = 'todo' AND e.type = 'deferred'"
        )
        ((waiting, oldest),) = cursor.fetchall()
    words = f"{alive} alive, {waiting} jobs wait"
    if not alive:
        return failed("workers", words, f"Start one: `{settings.COMMAND} procrastinate worker`.")
    if oldest > WAITS_LONG:
        words = f"{words}, the oldest for {oldest:,.0f} s"
        return warning(
            "workers", words, "Start more workers, or raise MEMORYWEB_WORKER_CONCURRENCY."
        )
    return ok("workers", words)


def secrets() -> Found:
    """Whether all that is stored encrypted can be read."""
    if lost := counted(Under.UNKNOWN):
        words = f"under a key that is not here, so that they cannot be read: {lost}"
        advice = "Enter them anew, or name that key in MEMORYWEB_SECRET_KEY_FALLBACKS."
        return warning("secrets", words, advice)
    return ok("secrets", "all that is stored encrypted can be read")


def connections() -> Found:
    """What the processes that live may take, against what Postgres gives."""
    if not settings.HOSTED:
        return ok("connections", "SQLite has none to run out of")
    found = look()
    web = sum(process.role == "web" for process in found.processes)
    words = (
        f"{found.open} open; {web} web processes and {len(found.processes) - web} workers may take"
        f" {found.most} of {found.limit}"
    )
    advice = "Lower MEMORYWEB_DATABASE_POOL, or raise max_connections of Postgres."
    if found.most > found.limit:
        return failed("connections", words, advice)
    if found.most > found.limit - SPARE:
        return warning("connections", f"{words}, which leaves fewer than {SPARE}", advice)
    return ok("connections", words)


def clock() -> Found:
    """Whether this machine and the database agree on the time."""
    if not settings.HOSTED:
        return ok("clock", f"{timezone.now():%Y-%m-%d %H:%M:%S} UTC")
    with connection.cursor() as cursor:
        before = datetime.now(UTC)
        cursor.execute("SELECT clock_timestamp()")
        theirs = cursor.fetchone()[0]
        after = datetime.now(UTC)
    off = max((before - theirs).total_seconds(), (theirs - after).total_seconds(), 0.0)
    words = f"{off:.1f} s apart from the database's"
    if off > CLOCKS_DIFFER:
        advice = "Have both machines keep time by NTP: workers tell by it who is alive."
        return failed("clock", words, advice)
    return ok("clock", words)
