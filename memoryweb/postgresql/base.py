"""The backend that `DATABASES` names: a connection that was used just now is not tried again, and
keeps the plans of statements that are executed often."""

from __future__ import annotations

import logging
from time import monotonic
from typing import Any

from django.conf import settings
from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base
from django.db.backends.postgresql.operations import DatabaseOperations
from psycopg import Connection
from psycopg.errors import DuplicatePreparedStatement, InvalidSqlStatementName
from psycopg_pool import ConnectionPool

RESTED_SECONDS = 1.0  # after which a connection is tried before it is used
PREPARE_AFTER = 3  # times that a connection executed a statement
MOST_PREPARED = 300  # statements of a connection
POOLER = (
    "What is between this process and Postgres does not keep prepared statements: set"
    " MEMORYWEB_PREPARED_STATEMENTS=0, as docs/scaling.md says of poolers."
)
logger = logging.getLogger(__name__)


class PooledConnection(Connection[Any]):
    """A connection that knows when it was used."""

    used_at = 0.0


class PreparingCursor(base.ServerBindingCursor):
    """Sends values apart from the statement, so that Postgres can keep the statement's plan."""

    def execute(self, *args: Any, **options: Any) -> Any:
        """Execute a statement; the log says what to do where a pooler lost its plan."""
        try:
            return super().execute(*args, **options)  # type: ignore[misc]
        except (InvalidSqlStatementName, DuplicatePreparedStatement):
            logger.exception(POOLER)
            raise


class Operations(DatabaseOperations):
    def last_executed_query(self, cursor: Any, sql: Any, params: Any) -> str:
        """What a log of statements shows: of a prepared one the text without its values."""
        return str(super().last_executed_query(cursor, sql, params) or sql)


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's, with a pool of these connections; Django's own tries each before each use."""

    ops_class = Operations
    _connection_pools: dict[str, ConnectionPool[Any]]
    _configure_connection: Any
    _prepare_cursor: Any

    def get_connection_params(self) -> dict[str, Any]:
        prepare_after = PREPARE_AFTER if settings.PREPARED_STATEMENTS else None
        return super().get_connection_params() | {"prepare_threshold": prepare_after}

    def prepared_cursor(self) -> Any:
        """A cursor for statements that are executed again and again."""
        self.ensure_connection()
        cursor: Any = PreparingCursor
        with self.wrap_database_errors:
            return self._prepare_cursor(cursor(self.connection))

    @property
    def pool(self) -> ConnectionPool[Any] | None:
        options = self.settings_dict["OPTIONS"].get("pool")
        if not options or self.alias == NO_DB_ALIAS:
            return None
        if self.alias not in self._connection_pools:
            pool = ConnectionPool(
                kwargs=self.get_connection_params() | {"autocommit": True},
                connection_class=PooledConnection,
                open=False,
                configure=self._configure,
                check=_check,
                **options,
            )
            self._connection_pools.setdefault(self.alias, pool)  # another thread may be first
        return self._connection_pools[self.alias]

    def _configure(self, connection: PooledConnection) -> None:
        connection.prepared_max = MOST_PREPARED
        self._configure_connection(connection)


def _check(connection: PooledConnection) -> None:
    if monotonic() - connection.used_at > RESTED_SECONDS:
        ConnectionPool.check_connection(connection)
    connection.used_at = monotonic()
