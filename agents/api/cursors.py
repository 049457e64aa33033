"""Lists in pages: `limit`, and `after` or `before` an id. Paging must always come to an end.

`after` is what follows in the list's own order, `before` is what precedes. The newest SDK asks for
what comes after the last id until the answer is an empty list.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from django.db import models
from django.db.models import Q
from django.http import HttpRequest
from pydantic import BaseModel, Field

from .schemas.fields import Order, Short

Item = TypeVar("Item")
Row = TypeVar("Row", bound=models.Model)
MOST = 1000  # on a page


class Page(BaseModel):
    """Which part of a list to return."""

    limit: Annotated[int, Field(ge=1, le=MOST)] = 50
    after: Short | None = None
    before: Short | None = None
    order: Order = "desc"
    ascending: bool | None = None

    @property
    def ascends(self) -> bool:
        """Whether the oldest comes first."""
        return self.order == "asc" if self.ascending is None else self.ascending


def page_of(
    rows: models.QuerySet[Row], page: Page, key: Callable[[str], Any], by: str = "created_at"
) -> list[Row]:
    """The rows of a page, ordered by the field `by` and then by key.

    `key` reads a key from an id. A cursor whose row does not exist gives an empty page, so that
    paging ends even if rows are deleted meanwhile.
    """
    ascends = page.ascends
    for cursor, later in ((page.after, True), (page.before, False)):
        if cursor is None:
            continue
        at = rows.model._default_manager.filter(pk=key(cursor)).values_list(by, flat=True).first()
        if at is None:
            return []
        rows = rows.filter(beyond(by, at, key(cursor), up=ascends == later))
    backwards = page.before is not None and page.after is None
    sign = "" if ascends != backwards else "-"
    found = list(rows.order_by(f"{sign}{by}", f"{sign}pk")[: page.limit])
    return found[::-1] if backwards else found


def beyond(by: str, at: Any, pk: Any, *, up: bool) -> Q:
    """The rows above (or below) one, by a field and then by key."""
    side = "gt" if up else "lt"
    here = Q(**{f"{by}__{side}": at}) | Q(**{by: at, f"pk__{side}": pk})
    return Q(**{f"{by}__{side}e": at}) & here  # which an index on `by` can be walked for


def part_of(items: list[Item], page: Page, id_of: Callable[[Item], str]) -> list[Item]:
    """The same for a list in memory, in its own order."""
    ids = [id_of(item) for item in items]
    for cursor in (page.after, page.before):
        if cursor is not None and cursor not in ids:
            return []
    first = ids.index(page.after) + 1 if page.after is not None else 0
    last = ids.index(page.before) if page.before is not None else len(items)
    if page.before is not None and page.after is None:
        first = max(0, last - page.limit)
    return items[first:last][: page.limit]


def ordered(request: HttpRequest, items: list[Item]) -> list[Item]:
    """Oldest first, unless the request asks for the other order."""
    return items[::-1] if request.GET.get("order") == "desc" else items
