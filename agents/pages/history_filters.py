"""Filters of the History tab: by editor, by tool, by time, and by what once stood in a block."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import NamedTuple
from uuid import UUID

from django.utils import timezone

from agents.models import Block, BlockEdit, Message
from agents.models.block_edit import edit_ids

from .request import Request

MOST_EDITS = 1000  # the newest, which filters look through
MOST_READ = 20_000_000  # characters of values that are searched
LONGEST = 200  # characters of what is searched for
NEWEST = 2**63 - 1
NAMES = ("by", "tool", "since", "until", "q")


class Row(NamedTuple):
    """An edit without its text."""

    pk: int
    block_id: UUID
    version: int
    editor_kind: str
    editor_name: str
    created_at: datetime
    step_id: int | None
    tool_call_id: str

    @property
    def by(self) -> str:
        return f"{self.editor_kind}:{self.editor_name}"


@dataclass(frozen=True)
class Filters:
    """What an address asks for; what is empty lets everything through."""

    by: str = ""
    tool: str = ""
    since: date | None = None
    until: date | None = None
    q: str = ""

    @classmethod
    def from_query(cls, request: Request) -> Filters:
        given = {name: request.GET.get(name, "").strip()[:LONGEST] for name in NAMES}
        days = {name: day_or_none(given[name]) for name in ("since", "until")}
        return cls(by=given["by"], tool=given["tool"], q=given["q"], **days)

    def query(self) -> dict[str, str]:
        """As an address has them."""
        return {name: str(value) for name in NAMES if (value := getattr(self, name))}

    def __bool__(self) -> bool:
        return bool(self.query())


def day_or_none(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


@dataclass
class Found:
    """What is to be chosen from, and the edits that pass, newest first."""

    ids: list[int] = field(default_factory=list)
    editors: list[str] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)
    is_cut: bool = False  # older edits were not looked through


def look_through(blocks: Sequence[Block], filters: Filters) -> Found:
    """The newest edits of some blocks that pass the filters."""
    ids = edit_ids(list(blocks), "<=", NEWEST, "DESC", MOST_EDITS + 1)
    rows = [
        Row(*row)
        for row in BlockEdit.plain.filter(pk__in=ids[:MOST_EDITS])
        .order_by("-pk")
        .values_list(*Row._fields)
    ]
    tools = tools_of(rows)
    texts = texts_about(rows, filters.q) if filters.q else None
    passing = [
        row.pk
        for row in rows
        if (not filters.by or row.by == filters.by)
        and (not filters.tool or tools.get(row.pk) == filters.tool)
        and (texts is None or row.pk in texts.ids)
        and _is_between(row.created_at, filters.since, filters.until)
    ]
    return Found(
        passing,
        editors=sorted({row.by for row in rows}, key=lambda by: by.partition(":")[2].casefold()),
        tools=sorted(set(tools.values())),
        is_cut=len(ids) > MOST_EDITS or bool(texts and texts.is_cut),
    )


def _is_between(moment: datetime, since: date | None, until: date | None) -> bool:
    day = timezone.localtime(moment).date()
    return (since is None or since <= day) and (until is None or day <= until)


def tools_of(rows: Iterable[Row]) -> dict[int, str]:
    """The tool that made each edit, by the edit's key, of those that a tool made."""
    made: dict[tuple[int | None, str], list[int]] = defaultdict(list)
    for row in rows:
        made[row.step_id, row.tool_call_id].append(row.pk)
    steps = {step for step, call in made if step and call}
    asked = Message.objects.filter(step__in=steps, role=Message.Role.ASSISTANT)
    found: dict[int, str] = {}
    for step, calls in asked.values_list("step_id", "tool_calls"):
        for call in calls:
            for pk in made.get((step, call["id"]), ()):
                found[pk] = call["name"]
    return found


class About(NamedTuple):
    """Edits that wrote a text or took it away; `is_cut` where not all values were read."""

    ids: set[int]
    is_cut: bool


def texts_about(rows: Sequence[Row], text: str) -> About:
    """Those of some edits, newest first, that brought a text into a block or took it out."""
    wanted, found, read = text.casefold(), set[int](), 0
    edits = BlockEdit.objects.filter(pk__in=[row.pk for row in rows]).order_by("-pk")
    values = edits.values_list("pk", "after", "previous_value")  # type: ignore[misc]  # annotated
    for pk, after, before in values.iterator(chunk_size=100):
        read += len(after) + len(before or "")
        if read > MOST_READ:
            return About(found, is_cut=True)
        if (wanted in after.casefold()) != (wanted in (before or "").casefold()):
            found.add(pk)
    return About(found, is_cut=False)
