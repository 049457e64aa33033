"""The index of passages and messages, kept by triggers: whoever writes, also in bulk, is covered.

What is indexed of a row is its field `search` (`agents.models.searchable`). On SQLite an FTS5
table stands beside each table, with the owner among a row's terms, so that an agent's rows are an
intersection in the index. On Postgres the field itself is a tsvector, with a GIN index. The
triggers are plain SQL, so any client of the database may write: a change that comes without its
terms takes them away, and they are made before long. A text that changes loses its vector.

Django makes a table of SQLite anew when a field changes, and its triggers go with the old one, or
are in its way: they are dropped before migrations are applied, and `install` runs after every
`migrate` and puts back what is missing.
"""

from __future__ import annotations

from typing import Any

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

from agents.models.searchable import make_all_terms
from agents.text.terms import VERSION

from . import pgvector

INDEXED = {"agents_passage": "agents_passagevector", "agents_message": "agents_messagevector"}

# When a row says something else than before, and when it may be found or not.
SAYS = {
    "agents_passage": ("text",),
    "agents_message": ("content", "tool_calls"),
}
DEPENDS = {
    "agents_passage": ("agent_id", "tags"),
    "agents_message": ("agent_id", "role", "status"),
}
HIDDEN = {
    "agents_passage": "",
    "agents_message": " AND NOT (new.search = '' AND new.status NOT IN ('complete', 'stopped'))",
}


def fts(table: str) -> str:
    """The FTS5 table beside a table of SQLite; another version of the terms has another one."""
    return f"{table}_terms_{VERSION}"


def make_way(sender: Any, using: str, plan: Any, **kwargs: Any) -> None:
    """SQLite renames no table while a trigger names one that is being made anew."""
    connection = connections[using]
    if plan and connection.vendor == "sqlite":
        drop_triggers(connection)


def install_after_migrate(sender: Any, using: str, **kwargs: Any) -> None:
    install(connections[using])


def install(connection: BaseDatabaseWrapper) -> None:
    """Make what is missing of the index. Rows that have no terms get theirs; those whose terms were
    made by other rules get new ones."""
    with connection.cursor() as cursor:
        if not set(INDEXED) | set(INDEXED.values()) <= set(
            connection.introspection.table_names(cursor)
        ):
            return  # migrated back to before there was an index
        for table in INDEXED:
            cursor.execute(
                f"CREATE INDEX IF NOT EXISTS {table}_without_terms ON {table} (id)"
                " WHERE search IS NULL"
            )
            if connection.vendor == "sqlite":
                _install_sqlite(cursor, table)
            else:
                _install_postgres(cursor, table)
        if connection.vendor != "sqlite":
            pgvector.install(cursor)
    make_all_terms()


def uninstall(connection: BaseDatabaseWrapper) -> None:
    """Take the index away."""
    with connection.cursor() as cursor:
        for table in INDEXED:
            if connection.vendor == "sqlite":
                drop_triggers(connection)
                cursor.execute(f"DROP TABLE IF EXISTS {fts(table)}")
            else:
                cursor.execute(f"DROP FUNCTION IF EXISTS {_function(table)}() CASCADE")
                cursor.execute(f"DROP INDEX IF EXISTS {table}_search")


# -- SQLite ----------------------------------------------------------------------------------------


def drop_triggers(connection: BaseDatabaseWrapper) -> None:
    """Take the triggers away until the next `install`, which indexes what was written meanwhile."""
    with connection.cursor() as cursor:
        for table in INDEXED:
            for trigger in _triggers(table):
                cursor.execute(f"DROP TRIGGER IF EXISTS {trigger}")


def _install_sqlite(cursor: Any, table: str) -> None:
    name, triggers = fts(table), _triggers(table)
    cursor.execute("SELECT name, sql FROM sqlite_master WHERE name LIKE %s", [f"{table}_%"])
    there = dict(cursor.fetchall())
    if triggers.items() <= there.items() and name in there:
        return
    for trigger in triggers:
        cursor.execute(f"DROP TRIGGER IF EXISTS {trigger}")
    if name not in there:
        for old in there:
            if old.startswith(f"{table}_terms_") and "VIRTUAL" in (there[old] or ""):
                cursor.execute(f"DROP TABLE {old}")
        cursor.execute(f"UPDATE {table} SET search = NULL")
        options = f"search, content={table}, content_rowid=id, tokenize=ascii, detail=none"
        cursor.execute(f"CREATE VIRTUAL TABLE {name} USING fts5({options})")
    cursor.execute(f"INSERT INTO {name}({name}) VALUES ('rebuild')")
    for sql in triggers.values():
        cursor.execute(sql)


def _triggers(table: str) -> dict[str, str]:
    """The triggers of a table of SQLite, by name."""
    name = fts(table)
    put = f"INSERT INTO {name}(rowid, search) SELECT new.id, new.search WHERE new.search <> ''"
    take = (
        f"INSERT INTO {name}({name}, rowid, search)"
        " SELECT 'delete', old.id, old.search WHERE old.search <> ''"
    )
    says, depends = SAYS[table], (*SAYS[table], *DEPENDS[table])
    heads = {
        f"{table}_indexed": f"AFTER INSERT ON {table} BEGIN {put}; END",
        f"{table}_indexed_anew": f"AFTER UPDATE OF search ON {table}"
        f" WHEN old.search IS NOT new.search BEGIN {take}; {put}; END",
        f"{table}_unindexed": f"AFTER DELETE ON {table} BEGIN {take}; END",
        f"{table}_without_its_terms": f"AFTER UPDATE OF {', '.join(depends)} ON {table}"
        f" WHEN ({_differ(depends)}) AND old.search IS new.search{HIDDEN[table]}"
        f" BEGIN UPDATE {table} SET search = NULL WHERE id = new.id; END",
        f"{table}_outdated": f"AFTER UPDATE OF {', '.join(says)} ON {table} WHEN {_differ(says)}"
        f" BEGIN DELETE FROM {INDEXED[table]} WHERE of_id = new.id; END",
    }
    return {trigger: f"CREATE TRIGGER {trigger} {body}" for trigger, body in heads.items()}


def _differ(columns: tuple[str, ...]) -> str:
    return " OR ".join(f"old.{column} IS NOT new.{column}" for column in columns)


# -- Postgres --------------------------------------------------------------------------------------


def _install_postgres(cursor: Any, table: str) -> None:
    name = _function(table)
    cursor.execute(f"SELECT obj_description(to_regproc('{name}')::oid, 'pg_proc')")
    (installed,) = cursor.fetchone()
    if installed == VERSION:
        return
    cursor.execute(_trigger_function(table))
    cursor.execute(
        f"CREATE OR REPLACE TRIGGER {name} BEFORE UPDATE ON {table}"
        f" FOR EACH ROW EXECUTE FUNCTION {name}()"
    )
    cursor.execute(
        f"CREATE INDEX IF NOT EXISTS {table}_search ON {table} USING gin (search)"
        " WITH (gin_pending_list_limit = 128)"
    )
    cursor.execute(f"UPDATE {table} SET search = NULL WHERE search IS NOT NULL")
    cursor.execute(f"COMMENT ON FUNCTION {name}() IS '{VERSION}'")


def _function(table: str) -> str:
    """The name of a table's trigger on Postgres, and of the function it calls."""
    return f"memoryweb_index_{table.removeprefix('agents_')}"


def _trigger_function(table: str) -> str:
    says, depends = SAYS[table], (*SAYS[table], *DEPENDS[table])
    return f"""
CREATE OR REPLACE FUNCTION {_function(table)}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF {_distinct(depends)} THEN
    IF NEW.search IS NOT DISTINCT FROM OLD.search{HIDDEN[table]} THEN
      NEW.search := NULL;
    END IF;
    IF {_distinct(says)} THEN
      DELETE FROM {INDEXED[table]} WHERE of_id = NEW.id;
    END IF;
  END IF;
  RETURN NEW;
END $$"""


def _distinct(columns: tuple[str, ...]) -> str:
    new, old = (", ".join(f"{row}.{column}" for column in columns) for row in ("NEW", "OLD"))
    return f"({new}) IS DISTINCT FROM ({old})"
