"""Rows read and written with statements that are built once.

Django builds each statement anew, which takes several times as long as the database needs to carry
it out. What every message passes (the verbs of the loop) uses these; everything else the ORM. Only
models import this: the other rooms call methods of the rows, such as those of `PreparedRow`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Self, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections, models
from django.db.backends.base.base import BaseDatabaseWrapper

from .searchable import Searchable, TermsField

MOST_ROWS = 100  # of one statement

Row = TypeVar("Row", bound=models.Model)
Fields = Sequence["models.Field[Any, Any]"]


def insert(row: models.Model) -> None:
    """Store a new row; its key is set if the database gives it."""
    sql, fields, keyed = _insertion(type(row))
    here = _connection()
    with _cursor(here) as cursor:
        cursor.execute(sql, _values(here, row, fields, add=True))
        if keyed:
            row.pk = cursor.fetchone()[0]
    row._state.adding, row._state.db = False, here.alias


def insert_all(rows: Sequence[models.Model]) -> None:
    """Store new rows of one table by one statement; keys the database gives are not set."""
    if not rows:
        return
    sql, fields, _ = _insertion(type(rows[0]))
    head, _, row = sql.partition(" RETURNING ")[0].partition(" VALUES ")
    here = _connection()
    with _cursor(here) as cursor:
        for at in range(0, len(rows), MOST_ROWS):
            batch = rows[at : at + MOST_ROWS]
            given = [value for each in batch for value in _values(here, each, fields, add=True)]
            cursor.execute(f"{head} VALUES {', '.join([row] * len(batch))}", given)


def update(row: models.Model, *names: str) -> None:
    """Store these fields of a row."""
    sql, fields = _updating(type(row), names)
    here = _connection()
    with _cursor(here) as cursor:
        cursor.execute(sql, [*_values(here, row, fields, add=False), key(row)])


def update_and_look(row: models.Model, names: Sequence[str], look: str, *parameters: Any) -> Any:
    """Store these fields of a row; what an expression of SQL comes to then, None without a row."""
    sql, fields = _updating(type(row), tuple(names))
    here = _connection()
    with _cursor(here) as cursor:
        given = [*_values(here, row, fields, add=False), key(row), *parameters]
        cursor.execute(f"{sql} RETURNING {look}", given)
        found = cursor.fetchone()
    return found and found[0]


def read(model: type[Row], rest: str, *parameters: Any) -> list[Row]:
    """Rows of a table. `rest` is the SQL after FROM and the table: JOIN, WHERE, ORDER BY, LIMIT."""
    names = _names(model)
    found = values(model, names, rest, *parameters)
    return [model.from_db(DEFAULT_DB_ALIAS, names, row) for row in found]


def read_together(tables: Sequence[type[models.Model]], rest: str, *parameters: Any) -> list[Any]:
    """The first row of a join as one row of each table; [] if there is none. `rest` is the SQL
    after FROM."""
    columns, places = [], []
    for model in tables:
        names = _names(model)
        sql, converters = _selection(model, names)
        columns.append(sql.removeprefix("SELECT ").partition(" FROM ")[0])
        places.append((model, names, converters))
    with _cursor(_connection()) as cursor:
        cursor.execute(f"SELECT {', '.join(columns)} FROM {rest} LIMIT 1", parameters)
        found = cursor.fetchone()
    if found is None:
        return []
    rows, at = [], 0
    for model, names, converters in places:
        row = list(found[at : at + len(names)])
        at += len(names)
        rows.append(_made(model, names, converters, row))
    return rows


def changed(model: type[Row], change: str, *parameters: Any) -> Row | None:
    """The row that an UPDATE changes; `change` is the SQL after the table: SET and WHERE."""
    names = _names(model)
    sql, converters = _selection(model, names)
    columns = sql.removeprefix("SELECT ").partition(" FROM ")[0]
    update = f"UPDATE {model._meta.db_table} SET {change} RETURNING {columns}"
    with _cursor(_connection()) as cursor:
        cursor.execute(update, parameters)
        found = cursor.fetchone()
    return _made(model, names, converters, list(found)) if found else None


def find(model: type[Row], pk: Any, *, lock: bool = False) -> Row | None:
    """The row with that key, held until commit where the database can hold one row."""
    held = " FOR UPDATE" if lock and connection.features.has_select_for_update else ""
    prepared = model._meta.pk.get_db_prep_value(pk, connection)
    found = read(model, f"WHERE {model._meta.pk.column} = %s{held}", prepared)
    return found[0] if found else None


def values(
    model: type[models.Model], names: tuple[str, ...], rest: str, *parameters: Any
) -> list[list[Any]]:
    """Some fields of rows, as `read` finds them."""
    sql, converters = _selection(model, names)
    with _cursor(_connection()) as cursor:
        cursor.execute(f"{sql} {rest}", parameters)
        found = [list(row) for row in cursor.fetchall()]
    for place, convert in converters:
        for row in found:
            row[place] = convert(row[place])
    return found


def keys(rows: Sequence[models.Model]) -> tuple[str, list[Any]]:
    """The keys of rows as a list of SQL, `(%s, %s)`, and its parameters."""
    return f"({', '.join(['%s'] * len(rows))})", [key(row) for row in rows]


def key(row: models.Model) -> Any:
    """A row's primary key as the database has it."""
    return row._meta.pk.get_db_prep_value(row.pk, _connection())


class PreparedRow(models.Model):
    """A row that the loop finds, stores and updates with these statements."""

    class Meta:
        abstract = True

    @classmethod
    def find(cls, pk: Any) -> Self | None:
        """The row with that key."""
        return find(cls, pk)

    def insert(self) -> None:
        """Store the new row."""
        insert(self)

    def update(self, *names: str) -> None:
        """Store these fields."""
        update(self, *names)


def _connection() -> BaseDatabaseWrapper:
    """This thread's connection itself: each attribute of `connection` looks for it anew."""
    return connections[DEFAULT_DB_ALIAS]


def _cursor(here: BaseDatabaseWrapper) -> Any:
    """One whose statements the database prepares, where it can; see memoryweb/postgresql."""
    return getattr(here, "prepared_cursor", here.cursor)()


def _values(
    here: BaseDatabaseWrapper, row: models.Model, fields: Fields, *, add: bool
) -> list[Any]:
    return [field.get_db_prep_save(field.pre_save(row, add), here) for field in fields]


def _quoted(fields: Fields) -> list[str]:
    return [connection.ops.quote_name(str(field.column)) for field in fields]


@cache
def _insertion(model: type[models.Model]) -> tuple[str, Fields, bool]:
    meta = model._meta
    keyed = isinstance(meta.pk, models.AutoField)
    fields = [field for field in meta.concrete_fields if not (keyed and field.primary_key)]
    columns, places = ", ".join(_quoted(fields)), ", ".join(["%s"] * len(fields))
    returning = f" RETURNING {meta.pk.column}" if keyed else ""
    return f"INSERT INTO {meta.db_table} ({columns}) VALUES ({places}){returning}", fields, keyed


@cache
def _updating(model: type[models.Model], names: tuple[str, ...]) -> tuple[str, Fields]:
    meta = model._meta
    by_name = {field.attname: field for field in meta.concrete_fields}
    fields = [by_name[name] for name in names]
    if issubclass(model, Searchable) and not model.TERMS_OF.isdisjoint(names):
        fields.append(by_name["search"])
    changes = ", ".join(f"{column} = %s" for column in _quoted(fields))
    return f"UPDATE {meta.db_table} SET {changes} WHERE {meta.pk.column} = %s", fields


@cache
def _selection(
    model: type[models.Model], names: tuple[str, ...]
) -> tuple[str, list[tuple[int, Callable[[Any], Any]]]]:
    table = model._meta.db_table
    by_name = {field.attname: field for field in model._meta.concrete_fields}
    converters = []
    for place, name in enumerate(names):
        column = by_name[name].get_col(table)
        found = connection.ops.get_db_converters(column) + column.get_db_converters(connection)
        converters += [(place, _converting(convert, column)) for convert in found]
    columns = [f"{table}.{column}" for column in _quoted([by_name[name] for name in names])]
    return f"SELECT {', '.join(columns)} FROM {table}", converters


def _made(
    model: type[Row],
    names: tuple[str, ...],
    converters: list[tuple[int, Callable[[Any], Any]]],
    row: list[Any],
) -> Row:
    for place, convert in converters:
        row[place] = convert(row[place])
    return model.from_db(DEFAULT_DB_ALIAS, names, row)


@cache
def _names(model: type[models.Model]) -> tuple[str, ...]:
    fields = model._meta.concrete_fields
    return tuple(field.attname for field in fields if not isinstance(field, TermsField))


def _converting(convert: Callable[..., Any], column: Any) -> Callable[[Any], Any]:
    return lambda value: convert(value, column, connection)
