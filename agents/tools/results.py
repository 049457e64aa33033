"""What search tools take and give: dates, how many, and results of a bounded size."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from .tool import ToolError

if TYPE_CHECKING:
    from agents.search.hybrid import Found

MOST_RESULTS = 100
MOST_CHARACTERS = 20_000  # of all results together
FEWEST_SHOWN = 300  # of a text


def at_most(count: int, name: str) -> int:
    """How many results are wanted; ToolError outside 1 to 100."""
    if not 1 <= count <= MOST_RESULTS:
        raise ToolError(f"{name} is {count}; give a number from 1 to {MOST_RESULTS}.")
    return count


def moments(**given: str | None) -> tuple[datetime | None, datetime | None]:
    """A start, and an end that is the first moment after it; named as the tool names them."""
    (start_name, start), (end_name, end) = given.items()
    since = moment(start, start_name) if start else None
    until = moment(end, end_name, end=True) if end else None
    if since and until and since >= until:
        raise ToolError(f"{start_name} ({start}) is after {end_name} ({end}); swap them.")
    return since, until


def moment(given: str, name: str, *, end: bool = False) -> datetime:
    """A date or a date and time in ISO 8601; UTC where it names no zone."""
    try:
        if len(given.strip()) <= 10:
            day = datetime.combine(date.fromisoformat(given.strip()), time(), UTC)
            return day + timedelta(days=1) if end else day
        told = datetime.fromisoformat(given.strip())
        told = told.replace(tzinfo=UTC) if told.tzinfo is None else told.astimezone(UTC)
        return told + timedelta(microseconds=1) if end else told
    except (ValueError, OverflowError):
        raise ToolError(
            f"{name} is '{given[:40]}', which is no date; write it as 2026-01-31, or with a time"
            " as 2026-01-31T18:30 or 2026-01-31T18:30:00+01:00."
        ) from None


def shown(found: Found, query: str, described: Callable[[Any], dict[str, Any]]) -> str:
    """The results as JSON, long texts cut around the match, all of them at most 20,000 characters.

    Each has id, when and time, score (unless it is a listing) and what `described` says, its "text"
    cut.
    """
    from agents.search.words import excerpt

    told: dict[str, Any] = {"results": []}
    if found.semantic is not None:
        told["semantic"] = found.semantic
    room = MOST_CHARACTERS - 100
    now = timezone.now()
    for row, score in found.rows:
        fields = described(row)
        text = fields.pop("text")
        result = {"id": row.pk, "when": in_words(row.created_at, now)}
        result |= {
            "time": f"{row.created_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
            "text": "",
            **fields,
        }
        if score is not None:
            result["score"] = round(score, 4)
        size = (MOST_CHARACTERS - 100) // len(found.rows) - len(dumps(result)) - 50
        result["text"] = excerpt(text, query, max(FEWEST_SHOWN, size))
        room -= len(dumps(result)) + 2
        if room < 0:
            told["left_out"] = len(found.rows) - len(told["results"])
            break
        told["results"].append(result)
    return dumps(told)


def in_words(then: datetime, now: datetime) -> str:
    """A moment as people say it: "Monday 3 March 2025, 18:30 UTC (8 months ago)"."""
    then = then.astimezone(UTC)
    return f"{then:%A} {then.day} {then:%B %Y, %H:%M} UTC ({how_long_ago(then, now)})"


def how_long_ago(then: datetime, now: datetime) -> str:
    """The whole days, weeks, months or years between two moments."""
    days = (now.astimezone(UTC).date() - then.astimezone(UTC).date()).days
    if days < 0:
        return "in the future"
    if days < 2:
        return ("today", "yesterday")[days]
    if days >= 365:
        return "1 year ago" if days < 730 else f"{days // 365} years ago"
    length, name = (30, "months") if days >= 60 else (7, "weeks") if days >= 14 else (1, "days")
    return f"{days // length} {name} ago"


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
