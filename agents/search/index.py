"""The index of passages and messages, kept by triggers: whoever writes, also in bulk, is covered.

On SQLite each table has an FTS5 table beside it, whose one column holds `words`' terms, the owner's
among them, so that an agent's rows are an intersection in the index. On Postgres each table has a
column `search`, a tsvector of the same terms, with a GIN index. Drafts and broken messages are not
indexed. A text that changes loses its vector.

Django makes a table of SQLite anew when a field changes, and its triggers go with the old one, or
are in its way: they are dropped before migrations are applied, and `install` runs after every
`migrate` and puts back what is missing.
"""

from __future__ import annotations

from typing import Any

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.db.models.signals import post_migrate, pre_migrate
from django.dispatch import receiver

from . import pgvector, words

VERSION = 1  # of the terms; another one has everything indexed anew
INDEXED = {"agents_passage": "agents_passagevector", "agents_message": "agents_messagevector"}


def fts(table: str) -> str:
    """The FTS5 table beside a table of SQLite."""
    return f"{table}_terms_{VERSION}"


@receiver(connection_created)
def _lend_functions(connection: BaseDatabaseWrapper, **kwargs: Any) -> None:
    """Give a connection to SQLite the functions that the triggers call."""
    if connection.vendor == "sqlite":
        lend = connection.connection.create_function
        lend("memoryweb_passage", 3, words.passage_terms, deterministic=True)
        lend("memoryweb_message", 4, words.message_terms, deterministic=True)


@receiver(pre_migrate)
def _make_way(sender: Any, using: str, plan: Any, **kwargs: Any) -> None:
    """SQLite renames no table while a trigger names one that is being made anew."""
    connection = connections[using]
    if sender.name == "agents" and plan and connection.vendor == "sqlite":
        drop_triggers(connection)


@receiver(post_migrate)
def _install_after_migrate(sender: Any, using: str, **kwargs: Any) -> None:
    if sender.name == "agents":
        install(connections[using])


def install(connection: BaseDatabaseWrapper) -> None:
    """Make what is missing of the index; rows that are there already are indexed."""
    with connection.cursor() as cursor:
        if not set(INDEXED) | set(INDEXED.values()) <= set(
            connection.introspection.table_names(cursor)
        ):
            return  # migrated back to before there was an index
        if connection.vendor == "sqlite":
            for table in INDEXED:
                _install_sqlite(cursor, table)
        else:
            _install_postgres(cursor)
            pgvector.install(cursor)


def uninstall(connection: BaseDatabaseWrapper) -> None:
    """Take the index away: before its tables go, where a migration is taken back."""
    with connection.cursor() as cursor:
        for table in INDEXED:
            if connection.vendor == "sqlite":
                drop_triggers(connection)
                cursor.execute(f"DROP TABLE IF EXISTS {fts(table)}")
            else:
                trigger = f"memoryweb_index_{table.removeprefix('agents_')}"
                cursor.execute(f"DROP TRIGGER IF EXISTS {trigger} ON {table}")
                cursor.execute(f"ALTER TABLE {table} DROP COLUMN IF EXISTS search")
        if connection.vendor != "sqlite":
            cursor.execute("DROP FUNCTION IF EXISTS memoryweb_terms(text)")


# -- SQLite ----------------------------------------------------------------------------------------


def drop_triggers(connection: BaseDatabaseWrapper) -> None:
    """Take the triggers away until the next `install`, which indexes what was written meanwhile."""
    with connection.cursor() as cursor:
        for table in INDEXED:
            for trigger in _triggers(table):
                cursor.execute(f"DROP TRIGGER IF EXISTS {trigger}")


SQLITE = {
    "agents_passage": {
        "columns": "agent_id, text, tags",
        "terms": "memoryweb_passage({row}.agent_id, {row}.text, {row}.tags)",
        "indexed": "1",
        "changed": "old.text IS NOT new.text",
    },
    "agents_message": {
        "columns": "agent_id, role, status, content, tool_calls",
        "terms": "memoryweb_message({row}.agent_id, {row}.role, {row}.content, {row}.tool_calls)",
        "indexed": "{row}.status IN ('complete', 'stopped')",
        "changed": "old.content IS NOT new.content OR old.tool_calls IS NOT new.tool_calls",
    },
}


def _install_sqlite(cursor: Any, table: str) -> None:
    name, has = fts(table), SQLITE[table]
    cursor.execute("SELECT name, sql FROM sqlite_master WHERE name LIKE %s", [f"{table}_%"])
    there = dict(cursor.fetchall())
    if name not in there:
        for old in there:
            if old.startswith(f"{table}_terms_") and "VIRTUAL" in (there[old] or ""):
                cursor.execute(f"DROP TABLE {old}")
        options = "terms, tokenize=ascii, detail=none"
        cursor.execute(f"CREATE VIRTUAL TABLE {name} USING fts5({options})")
    triggers = _triggers(table)
    if triggers.items() <= there.items() and name in there:
        return
    cursor.execute(f"DELETE FROM {name} WHERE rowid NOT IN (SELECT id FROM {table})")
    cursor.execute(
        f"INSERT INTO {name}(rowid, terms) SELECT id, {has['terms'].format(row=table)}"
        f" FROM {table} WHERE {has['indexed'].format(row=table)}"
        f" AND id NOT IN (SELECT rowid FROM {name})"
    )
    for trigger, sql in triggers.items():
        cursor.execute(f"DROP TRIGGER IF EXISTS {trigger}")
        cursor.execute(sql)


def _triggers(table: str) -> dict[str, str]:
    """The triggers of a table of SQLite, by name."""
    name, has = fts(table), SQLITE[table]
    index = f"INSERT INTO {name}(rowid, terms) VALUES (new.id, {has['terms'].format(row='new')})"
    was, is_ = (has["indexed"].format(row=row) for row in ("old", "new"))
    heads = {
        f"{table}_indexed": f"AFTER INSERT ON {table} WHEN {is_} BEGIN {index}; END",
        f"{table}_outdated": f"BEFORE UPDATE OF {has['columns']} ON {table} WHEN {was} BEGIN"
        f" DELETE FROM {name} WHERE rowid = old.id;"
        f" DELETE FROM {INDEXED[table]} WHERE of_id = old.id AND ({has['changed']}); END",
        f"{table}_indexed_anew": f"AFTER UPDATE OF {has['columns']} ON {table} WHEN {is_} BEGIN"
        f" {index}; END",
        f"{table}_unindexed": f"AFTER DELETE ON {table} BEGIN"
        f" DELETE FROM {name} WHERE rowid = old.id; END",
    }
    return {trigger: f"CREATE TRIGGER {trigger} {body}" for trigger, body in heads.items()}


# -- Postgres --------------------------------------------------------------------------------------

TERMS = rf"""
CREATE OR REPLACE FUNCTION memoryweb_terms(body text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  t text := left(body, {words.LONGEST});
  runs text;
BEGIN
  IF octet_length(t) = length(t) THEN
    t := translate(lower(t), {{ascii}}, repeat(' ', 65));
  ELSE
    t := regexp_replace(normalize(t, NFKD), '[\u0300-\u036f]+', '', 'g');
    t := normalize(lower(t{{collation}}), NFKC);
    t := replace(replace(t, 'ς', 'σ'), 'ß', 'ss');
    t := regexp_replace(t, '[{words.SEPARATORS}]+', ' ', 'g');
    IF t ~ '[{words.UNSPACED}]' THEN
      runs := regexp_replace(t, '[^{words.UNSPACED}]+', ' ', 'g');
      t := regexp_replace(t, '[{words.UNSPACED}]+', ' ', 'g');
    END IF;
  END IF;
  IF t ~ '[^ ]{{{words.LONGEST_WORD + 1}}}' THEN
    t := regexp_replace(t, '([^ ]{{{words.LONGEST_WORD}}})[^ ]+', '\1', 'g');
  END IF;
  t := t || ' ';
  t := regexp_replace(t, '([^ea ])ies(?= )', '\1y', 'g');
  t := regexp_replace(t, '(ch|sh|ss|zz|[^ ]x)es(?= )', '\1', 'g');
  t := regexp_replace(t, '([^ ][^ ][^us ])s(?= )', '\1', 'g');
  IF runs IS NOT NULL THEN
    t := t || regexp_replace(runs, '([^ ])', '\1 ', 'g')
      || ' ' || regexp_replace(runs, '([^ ])([^ ])', '\1\2 ', 'g')
      || ' ' || regexp_replace(regexp_replace(runs, '(^| )[^ ]', ' ', 'g'),
                               '([^ ])([^ ])', '\1\2 ', 'g');
  END IF;
  RETURN array_remove(string_to_array(t, ' ', ''), NULL);
END $$"""
SAID = """
CREATE OR REPLACE FUNCTION memoryweb_said(content text, tool_calls jsonb) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  said text := content;
  call jsonb;
BEGIN
  IF tool_calls @> '[{"name": "send_message"}]' THEN
    FOR call IN SELECT * FROM jsonb_array_elements(tool_calls) LOOP
      IF call->>'name' = 'send_message' THEN
        BEGIN
          said := said || ' ' || coalesce((call->>'arguments')::jsonb->>'message', '');
        EXCEPTION WHEN OTHERS THEN NULL;  -- what the model wrote is no JSON
        END;
      END IF;
    END LOOP;
  END IF;
  RETURN said;
END $$"""
VECTOR_OF = """
CREATE OR REPLACE FUNCTION memoryweb_tsvector(body text, more text[]) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN array_to_tsvector(memoryweb_terms(body) || more);
EXCEPTION WHEN program_limit_exceeded THEN  -- a tsvector holds 1 MB
  RETURN array_to_tsvector(memoryweb_terms(left(body, 20000)) || more);
END $$"""
INDEX_PASSAGE = """
CREATE OR REPLACE FUNCTION memoryweb_index_passage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF NEW.text IS DISTINCT FROM OLD.text THEN
      DELETE FROM agents_passagevector WHERE of_id = NEW.id;
    ELSIF NEW.tags IS NOT DISTINCT FROM OLD.tags AND NEW.search IS NOT NULL THEN
      RETURN NEW;
    END IF;
  END IF;
  NEW.search := memoryweb_tsvector(NEW.text, ARRAY(
    SELECT U&'\\E001' || md5(tag) FROM jsonb_array_elements_text(NEW.tags) AS tag));
  RETURN NEW;
END $$"""
INDEX_MESSAGE = """
CREATE OR REPLACE FUNCTION memoryweb_index_message() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF (NEW.content, NEW.tool_calls) IS DISTINCT FROM (OLD.content, OLD.tool_calls) THEN
      DELETE FROM agents_messagevector WHERE of_id = NEW.id;
    ELSIF NEW.status = OLD.status AND NEW.search IS NOT NULL THEN
      RETURN NEW;
    END IF;
  END IF;
  IF NEW.status IN ('complete', 'stopped') THEN
    NEW.search := memoryweb_tsvector(memoryweb_said(NEW.content, NEW.tool_calls), '{}');
  ELSE
    NEW.search := NULL;
  END IF;
  RETURN NEW;
END $$"""
COLLATIONS = ("pg_c_utf8", "und-x-icu")  # where the database's own might know ASCII only


def _install_postgres(cursor: Any) -> None:
    cursor.execute("SELECT obj_description(to_regproc('memoryweb_terms')::oid, 'pg_proc')")
    if cursor.fetchone() == (str(VERSION),):
        return
    cursor.execute("SELECT collname FROM pg_collation WHERE collname = ANY(%s)", [list(COLLATIONS)])
    there = {name for (name,) in cursor.fetchall()}
    collation = next((f' COLLATE "{name}"' for name in COLLATIONS if name in there), "")
    ascii_separators = "".join(c for c in map(chr, range(1, 128)) if not c.isalnum())
    quoted = "E'" + "".join(f"\\x{ord(c):02x}" for c in ascii_separators) + "'"
    terms = TERMS.replace("{ascii}", quoted).replace("{collation}", collation)
    for function in (terms, SAID, VECTOR_OF, INDEX_PASSAGE, INDEX_MESSAGE):
        cursor.execute(function)
    for table in INDEXED:
        trigger = f"memoryweb_index_{table.removeprefix('agents_')}"
        cursor.execute(f"ALTER TABLE {table} ADD COLUMN IF NOT EXISTS search tsvector")
        cursor.execute(
            f"CREATE OR REPLACE TRIGGER {trigger} BEFORE INSERT OR UPDATE ON {table}"
            f" FOR EACH ROW EXECUTE FUNCTION {trigger}()"
        )
        cursor.execute(
            f"CREATE INDEX IF NOT EXISTS {table}_search ON {table} USING gin (search)"
            " WITH (gin_pending_list_limit = 128)"
        )
    for table in INDEXED:
        cursor.execute(f"UPDATE {table} SET search = NULL")  # the trigger fills it
    cursor.execute(f"COMMENT ON FUNCTION memoryweb_terms(text) IS '{VERSION}'")
