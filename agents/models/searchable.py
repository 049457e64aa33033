"""Searchable: rows that search finds by their words. Their terms are a field, made here and nowhere
else, on both databases; what keeps the index in step with it are triggers in plain SQL
(`agents.search.index`).

A row whose terms are not made yet has none (NULL): another client of the database wrote it, or it
was changed past `save`, upon which the triggers take the terms away. `make_terms` makes them.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterable
from hashlib import md5
from typing import Any, ClassVar, Self, TypeVar
from zlib import crc32

from django.db import connections, models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from agents.text.terms import terms

logger = logging.getLogger(__name__)
Row = TypeVar("Row", bound="Searchable")
BATCH = 500
LONGEST_FIELD = 800_000  # bytes; a tsvector of Postgres holds 1 MB

# Marks of terms that no text contains.
OWNER, TAG, FINGERPRINT = "\ue000", "\ue001", "\ue002"


class TermsField(models.TextField):
    """A row's terms with spaces between, made anew whenever the row is stored."""

    def db_type(self, connection: BaseDatabaseWrapper) -> str | None:
        return "tsvector" if connection.vendor == "postgresql" else super().db_type(connection)

    def pre_save(self, row: models.Model, add: bool) -> str | None:
        made = row.search_terms() if isinstance(row, Searchable) else None  # not in a migration
        setattr(row, self.attname, made)
        return made

    def get_db_prep_value(
        self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False
    ) -> Any:
        """On Postgres a tsvector, without the owner: its rows are known by their column."""
        if value is None or connection.vendor != "postgresql":
            return value
        return " ".join(f"'{term}'" for term in value.split() if term[0] != OWNER)


class SearchableQuerySet(models.QuerySet[Row]):
    def update(self, **changes: Any) -> int:
        """Change rows; what is searched for is in step before this returns."""
        count = super().update(**changes)
        if not self.model.TERMS_OF.isdisjoint(changes):
            self.model._default_manager.make_terms()
        return count

    def make_terms(self) -> int:
        """Make the terms of the rows that have none; how many that were."""
        done = 0
        while self.filter(search=None).exists():
            done += self._make_some()
        return done

    @transaction.atomic
    def _make_some(self) -> int:
        """Nobody changes these rows from when they are read until their terms are stored."""
        rows = list(self.filter(search=None).order_by("-pk").select_for_update()[:BATCH])
        if rows:
            here, meta = connections[self.db], self.model._meta
            field = TermsField()
            with here.cursor() as cursor:
                cursor.executemany(
                    f"UPDATE {meta.db_table} SET search = %s WHERE id = %s",
                    [(field.get_db_prep_save(terms_of(row), here), row.pk) for row in rows],
                )
        return len(rows)


class SearchableManager(models.Manager[Row]):
    def get_queryset(self) -> SearchableQuerySet[Row]:
        """Rows without their terms, which only the index reads."""
        return SearchableQuerySet(self.model, using=self._db).defer("search")

    def make_terms(self) -> int:
        return self.get_queryset().make_terms()


class Searchable(models.Model):
    """A row that search finds by its words."""

    TERMS_OF: frozenset[str]  # the fields that its terms are made of

    search = TermsField(null=True, editable=False)

    objects: ClassVar[SearchableManager[Self]] = SearchableManager()

    class Meta:
        abstract = True

    def save(self, *args: Any, update_fields: Iterable[str] | None = None, **kwargs: Any) -> None:
        """Store the row, with its terms."""
        if update_fields is not None and not self.TERMS_OF.isdisjoint(update_fields):
            update_fields = {*update_fields, "search"}
        if update_fields is None:
            self.search = None  # no longer deferred, so it is stored with the others
        super().save(*args, update_fields=update_fields, **kwargs)

    def search_terms(self) -> str:
        """What the index holds of the row; nothing where it is not to be found."""
        raise NotImplementedError


def terms_of(row: Searchable) -> str:
    """A row's terms; none of one that another client made such that it cannot be read."""
    try:
        return row.search_terms()
    except Exception as error:
        logger.warning("%s %s is not searched: %r", row._meta.verbose_name_raw, row.pk, error)
        return ""


def make_all_terms() -> int:
    """Make the terms of all rows that have none; how many that were."""
    return sum(model._default_manager.make_terms() for model in Searchable.__subclasses__())


# -- what is indexed of a row ----------------------------------------------------------------------


def indexed(owner: str, text: str, *made_of: Any, tags: Collection[str] = ()) -> str:
    """The terms of a row that says `text`; `made_of` is whatever else that depends on.

    Before them stands a fingerprint: by it the triggers tell a change that came with its terms from
    one that did not, also where the terms are the same. It stands alone where there are no terms.
    """
    all_of_it = json.dumps([owner, text, made_of], ensure_ascii=False).encode("utf8", "replace")
    fingerprint = f"{FINGERPRINT}{crc32(all_of_it):08x}"
    found = [*map(tag_term, tags), *terms(text)]
    return cut(" ".join([fingerprint, owner, *found])) if found else fingerprint


def cut(made: str) -> str:
    """Terms, without the last of those that a database has no room for."""
    if len(made) * 4 <= LONGEST_FIELD or len(made.encode()) <= LONGEST_FIELD:
        return made
    return made.encode()[:LONGEST_FIELD].decode("utf8", "ignore").rpartition(" ")[0]


def tag_term(tag: str) -> str:
    """A tag as a term."""
    return TAG + md5(tag.encode("utf8", "replace"), usedforsecurity=False).hexdigest()


def passage_owner(agent: str) -> str:
    """The term of every passage of an agent (32 hex digits)."""
    return f"{OWNER}p{agent}"


def message_owner(role: str, agent: str) -> str:
    """The term of every message of an agent in that role."""
    return f"{OWNER}{role[:1]}{agent}"
