"""The scope of a search: which rows of which agent may be found at all."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar, NamedTuple
from uuid import UUID

from django.db import connection, models

from agents.models import Agent, Conversation, Message, Passage
from agents.models.image import with_marks
from agents.models.message import spoken_text
from agents.models.role import as_stored
from agents.models.searchable import message_owner, passage_owner, tag_term

from .index import fts


class Line(NamedTuple):
    """A message as a neighbour of others: when it was said, in seconds, and where."""

    number: int
    key: int
    seconds: float
    conversation: UUID


Conjunction = Sequence[Sequence[str]]  # terms: any of each, and all of these
SEARCHED = (Message.Status.COMPLETE, Message.Status.STOPPED)
TOGETHER = 3600.0  # seconds; what was said within them belongs to one talk
BARE_CHARACTERS, BARE_TERMS = 9, 1  # of what is indexed of a row without words: a fingerprint
NUMBERS_APART = 6  # of neighbours, at most: between them stand tool calls and returns


@dataclass(frozen=True)
class Scope:
    """An agent's rows, created from `since` on and before `until`.

    `payer_id` is who pays for a query's vector, if not the agent's owner.
    """

    agent: Agent
    since: datetime | None = None
    until: datetime | None = None
    payer_id: int | None = field(default=None, kw_only=True)

    model: ClassVar[type[Passage] | type[Message]]
    order: ClassVar[str]  # falls with age, and is indexed with the agent
    fields: ClassVar[Sequence[str]]  # what a row says is made of

    @property
    def table(self) -> str:
        return self.model._meta.db_table

    @property
    def agent_key(self) -> Any:
        """The agent's key as the database has it."""
        return self.agent._meta.pk.get_db_prep_value(self.agent.pk, connection)

    @property
    def vectors(self) -> str:
        return f"{self.table}vector"

    @property
    def narrow(self) -> bool:
        """Whether it may leave out most of the agent's rows."""
        return bool(self.since or self.until)

    def owner(self) -> Sequence[str]:
        """The terms by which SQLite's index knows these rows; any of them."""
        raise NotImplementedError

    def tagged(self) -> Conjunction:
        """The terms that a row's tags must give."""
        return ()

    def dated(self) -> tuple[list[str], list[Any]]:
        """SQL for what the index does not know, over the row `r`, with its parameters."""
        where, parameters = [], []
        for compared, moment in ((">=", self.since), ("<", self.until)):
            if moment:
                where.append(f"r.created_at {compared} %s")
                parameters.append(connection.ops.adapt_datetimefield_value(moment))
        return where, parameters

    def conditions(self) -> tuple[list[str], list[Any]]:
        """SQL for all of it but the agent, over the row `r`, with its parameters."""
        where, parameters = self.dated()
        if self.tagged():
            if connection.vendor == "sqlite":
                name = fts(self.table)
                where.append(f"r.id IN (SELECT rowid FROM {name} WHERE {name} MATCH %s)")
                parameters.append(matching([self.owner(), *self.tagged()]))
            else:
                where.append("r.search @@ %s::tsquery")
                parameters.append(matching(self.tagged()))
        return where, parameters

    def newest(self, count: int) -> list[int]:
        """Keys of the newest rows."""
        where, parameters = self.conditions()
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT r.id FROM {self.table} r WHERE r.agent_id = %s"
                f"{''.join(f' AND {each}' for each in where)}"
                f" ORDER BY r.{self.order} DESC, r.id DESC LIMIT %s",
                [self.agent_key, *parameters, count],
            )
            return [key for (key,) in cursor.fetchall()]

    def rows(self, keys: Sequence[int]) -> dict[int, Any]:
        """The rows of these keys that are in the scope, by key."""
        rows: models.QuerySet[Any] = self.model._default_manager.filter(pk__in=list(keys))
        return {row.pk: row for row in rows.order_by() if self.holds(row)}

    def texts(self, keys: Sequence[int]) -> dict[int, str]:
        """What the agent's rows of these keys say, by key."""
        queryset = self.model._default_manager.filter(pk__in=list(keys)).order_by()
        rows = queryset.values_list("pk", "agent_id", *self.fields)
        return {
            key: self.text_of(*fields) for key, agent, *fields in rows if agent == self.agent.pk
        }

    def neighbours(self, keys: Sequence[int], count: int) -> dict[int, dict[int, int]]:
        """Of each row the keys of what was said around it, up to `count` rows before and after,
        with their distance, from 1. Nothing where rows do not follow one another.
        """
        return {}

    def holds(self, row: Any) -> bool:
        """Whether a row is in the scope."""
        return (
            row.agent_id == self.agent.pk
            and not (self.since and row.created_at < self.since)
            and not (self.until and row.created_at >= self.until)
        )

    @staticmethod
    def text_of(*fields: Any) -> str:
        """What a row says, of its `fields`."""
        raise NotImplementedError

    @classmethod
    def text(cls, row: Any) -> str:
        """What a row says."""
        return cls.text_of(*(getattr(row, name) for name in cls.fields))


@dataclass(frozen=True)
class Passages(Scope):
    """Archival memory; with `tags`, only what has any of them, or all."""

    tags: tuple[str, ...] = ()
    all_tags: bool = False

    model = Passage
    order = "created_at"
    fields = ("text",)

    @property
    def narrow(self) -> bool:
        return super().narrow or bool(self.tags)

    def owner(self) -> Sequence[str]:
        return [passage_owner(self.agent.pk.hex)]

    def tagged(self) -> Conjunction:
        terms = [tag_term(tag) for tag in self.tags]
        return [[term] for term in terms] if self.all_tags else [terms] if terms else []

    def holds(self, row: Passage) -> bool:
        if not super().holds(row):
            return False
        has = [tag in row.tags for tag in self.tags]
        return not has or (all(has) if self.all_tags else any(has))

    @staticmethod
    def text_of(*fields: Any) -> str:
        return str(fields[0])


@dataclass(frozen=True)
class Messages(Scope):
    """Recall memory: what was said in these roles, but for the run `but`; in one conversation, if
    one is named. What was put away, as it was said again in another way, is not in it."""

    roles: tuple[str, ...] = ("system", "user", "assistant")
    but: int | None = None
    conversation: UUID | None = None

    model = Message
    order = "number"
    fields = ("content", "images", "tool_calls")

    def owner(self) -> Sequence[str]:
        return [message_owner(role, self.agent.pk.hex) for role in self.roles]

    @cached_property
    def put_away(self) -> set[UUID]:
        """The conversations that are versions of others."""
        versions = Conversation.every.filter(agent=self.agent, version_of__isnull=False)
        return set(versions.values_list("pk", flat=True))

    @property
    def narrow(self) -> bool:
        return super().narrow or self.conversation is not None

    def conditions(self) -> tuple[list[str], list[Any]]:
        where, parameters = super().conditions()
        for column, allowed in (("role", self.roles), ("status", SEARCHED)):
            where.append(f"r.{column} IN ({', '.join(['%s'] * len(allowed))})")
            parameters += allowed
        if self.but is not None:
            where.append("(r.run_id IS NULL OR r.run_id <> %s)")
            parameters.append(self.but)
        if self.conversation is not None:
            where.append("r.conversation_id = %s")
            parameters.append(as_stored(self.conversation))
        elif self.put_away:
            where.append(f"r.conversation_id NOT IN ({', '.join(['%s'] * len(self.put_away))})")
            parameters += map(as_stored, self.put_away)
        return where, parameters

    def holds(self, row: Message) -> bool:
        fits = row.role in self.roles and row.status in SEARCHED
        fits = fits and row.conversation_id not in self.put_away
        here = self.conversation in (None, row.conversation_id)
        told = self.but is None or row.run_id != self.but
        return fits and here and told and super().holds(row)

    def neighbours(self, keys: Sequence[int], count: int) -> dict[int, dict[int, int]]:
        hits = Message.objects.filter(agent=self.agent, pk__in=list(keys)).order_by()
        places = list(hits.values_list("number", "pk", "created_at", "conversation"))
        apart = range(-NUMBERS_APART, NUMBERS_APART + 1)
        lines = self._lines(sorted({number + each for number, *_ in places for each in apart}))
        by_conversation: dict[UUID, list[Line]] = {}
        for line in lines:
            by_conversation.setdefault(line.conversation, []).append(line)
        neighbours: dict[int, dict[int, int]] = {}
        for number, hit, when, conversation in places:
            lines = by_conversation.get(conversation, [])
            numbers = [line.number for line in lines]
            at = bisect_left(numbers, number)
            after = at + (numbers[at : at + 1] == [number])
            neighbours[hit] = {
                key: distance
                for side in (lines[max(0, at - count) : at][::-1], lines[after : after + count])
                for distance, (other, key, seconds, _) in enumerate(side, 1)
                if abs(other - number) <= NUMBERS_APART
                and abs(seconds - when.timestamp()) <= TOGETHER
            }
        return neighbours

    def _lines(self, numbers: Sequence[int]) -> list[Line]:
        """The messages in the scope that have these numbers and any words."""
        if not numbers:
            return []
        where, parameters = self.conditions()
        seconds, bare = "extract(epoch FROM r.created_at)::float", BARE_TERMS
        if connection.vendor == "sqlite":
            seconds, bare = "CAST(strftime('%%s', r.created_at) AS INTEGER)", BARE_CHARACTERS
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT r.number, r.id, {seconds}, r.conversation_id FROM {self.table} r"
                f" WHERE r.agent_id = %s AND r.number IN ({', '.join(['%s'] * len(numbers))})"
                f" AND length(r.search) > %s{''.join(f' AND {each}' for each in where)}"
                " ORDER BY r.number",
                [self.agent_key, *numbers, bare, *parameters],
            )
            rows = cursor.fetchall()
        return [Line(number, key, when, UUID(str(where))) for number, key, when, where in rows]

    @staticmethod
    def text_of(*fields: Any) -> str:
        content, images, calls = fields
        return spoken_text(with_marks(content, images), calls)


def matching(terms: Conjunction) -> str:
    """A conjunction in the words of FTS5, or of a tsquery; `*` at a term's end is any ending."""
    fts5 = connection.vendor == "sqlite"
    between, either = (" AND ", " OR ") if fts5 else (" & ", " | ")

    def quoted(term: str) -> str:
        bare = term.removesuffix("*")
        ending = "" if bare == term else "*" if fts5 else ":*"
        return f'"{bare}"{ending}' if fts5 else f"'{bare}'{ending}"

    return between.join(f"({either.join(map(quoted, any_of))})" for any_of in terms)
