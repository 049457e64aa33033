"""`client.agents.passages` in the sandbox: the agent's archival memory.

Reads what is stored and what the call itself inserted, which is stored when the call's changes are
written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from agents.models import Passage
from agents.models.message import storable

from .staged import StagedMemory

MOST_LISTED = 1_000


@dataclass
class PassageState:
    """A passage as it was when it was asked for."""

    id: str
    text: str
    tags: list[str]
    created_at: datetime

    @classmethod
    def _of(cls, passage: Passage) -> PassageState:
        key = f"passage-{passage.pk or 'new'}"
        return cls(key, passage.text, list(passage.tags), passage.created_at)


@dataclass
class SearchHit:
    """One result of a search, in the words of the SDK."""

    id: str
    content: str
    tags: list[str]
    timestamp: datetime


@dataclass
class SearchResults:
    """The results of a search, best first."""

    results: list[SearchHit]
    count: int


States = list[PassageState]  # `list` is a method's name below


@dataclass
class Passages:
    """`client.agents.passages`; `_own` refuses any agent but the one that called."""

    _staged: StagedMemory
    _own: Callable[[StagedMemory, str], None]

    def list(
        self,
        agent_id: str,
        limit: int = 50,
        after: str = "",
        before: str = "",
        search: str = "",
        ascending: bool = True,
    ) -> States:
        """In the order in which they were inserted: those after one id, and before another."""
        self._own(self._staged, agent_id)
        count = max(1, min(int(limit or MOST_LISTED), MOST_LISTED))
        rows = self._staged.agent.passages.order_by("pk" if ascending else "-pk")
        if search := storable(search):
            rows = rows.filter(text__icontains=search)
        if after:
            rows = rows.filter(pk__gt=key_of(after))
        if before:
            rows = rows.filter(pk__lt=key_of(before))
        new = [p for p in self._staged.passages if not before and search.lower() in p.text.lower()]
        stored = rows[:count]
        both: Sequence[Passage]
        both = [*stored, *new] if ascending else [*reversed(new), *stored]
        return [PassageState._of(passage) for passage in both[:count]]

    def create(self, agent_id: str, text: str, tags: Sequence[str] | None = None) -> States:
        """Insert a passage."""
        self._own(self._staged, agent_id)
        return [PassageState._of(self._staged.insert(text, None if tags is None else [*tags]))]

    insert = create

    def search(
        self,
        agent_id: str,
        query: str,
        top_k: int = 10,
        tags: Sequence[str] | None = None,
        tag_match_mode: str = "any",
        start_datetime: Any = None,
        end_datetime: Any = None,
    ) -> SearchResults:
        """The passages that fit the query best; what the call itself inserted comes first."""
        self._own(self._staged, agent_id)
        passages = self._staged.search(
            query,
            max(1, min(int(top_k or 10), 100)),
            tags=tuple(tags or ()),
            all_tags=tag_match_mode == "all",
            since=moment(start_datetime),
            until=moment(end_datetime),
        )
        states = [PassageState._of(passage) for passage in passages]
        results = [SearchHit(each.id, each.text, each.tags, each.created_at) for each in states]
        return SearchResults(results, len(results))


def key_of(passage_id: str) -> int:
    """The key in a passage's id; LookupError if there is none."""
    number = str(passage_id).removeprefix("passage-")
    if not number.isdecimal():
        raise LookupError(f"There is no passage {passage_id}.")
    return int(number)


def moment(value: Any) -> datetime | None:
    """A moment, also as text in ISO 8601; UTC where it names no zone."""
    if value in (None, ""):
        return None
    read = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    return read if read.tzinfo else read.replace(tzinfo=UTC)
