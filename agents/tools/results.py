"""What search tools take and return: dates, a count, and results of a bounded size."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from django.utils import timezone

from agents.models import Agent
from agents.search.hybrid import SearchResult
from agents.search.words import excerpt

from .tool import ToolError

MOST_RESULTS = 100
MOST_CHARACTERS = 20_000  # of all results together
FEWEST_SHOWN = 300  # of a text


def checked_count(count: int, name: str) -> int:
    """How many results are asked for; ToolError outside 1 to 100."""
    if not 1 <= count <= MOST_RESULTS:
        raise ToolError(f"{name} is {count}; give a number from 1 to {MOST_RESULTS}.")
    return count


def zone_of(agent: Agent) -> ZoneInfo:
    """The time zone in which an agent reads and writes dates."""
    return ZoneInfo(agent.timezone)


def date_range(zone: tzinfo, /, **dates: str | None) -> tuple[datetime | None, datetime | None]:
    """A start, and an end that is the first moment after it; named as the tool names them."""
    (start_name, start), (end_name, end) = dates.items()
    since = parsed_date(start, start_name, zone) if start else None
    until = parsed_date(end, end_name, zone, end=True) if end else None
    if since and until and since >= until:
        raise ToolError(f"{start_name} ({start}) is after {end_name} ({end}); swap them.")
    return since, until


def parsed_date(text: str, name: str, zone: tzinfo = UTC, *, end: bool = False) -> datetime:
    """A date or a date and time in ISO 8601, in the zone where it names none."""
    try:
        if len(text.strip()) <= 10:
            day = datetime.combine(date.fromisoformat(text.strip()), time(), zone)
            return day + timedelta(days=1) if end else day
        moment = datetime.fromisoformat(text.strip())
        moment = moment.replace(tzinfo=zone) if moment.tzinfo is None else moment.astimezone(UTC)
        return moment + timedelta(microseconds=1) if end else moment
    except (ValueError, OverflowError):
        raise ToolError(
            f"{name} is '{text[:40]}', which is not a date; write it as 2026-01-31, or with a time"
            " as 2026-01-31T18:30 or 2026-01-31T18:30:00+01:00."
        ) from None


def as_json(
    results: SearchResult,
    query: str,
    fields_of: Callable[[Any], dict[str, Any]],
    zone: tzinfo = UTC,
) -> str:
    """The results as JSON, long texts cut around the match, all of them at most 20,000 characters.

    Each has id, when and time, score (unless it is a listing) and what `fields_of` gives, with the
    "text" cut.
    """
    answer: dict[str, Any] = {"results": []}
    if results.semantic is not None:
        answer["semantic"] = results.semantic
    room = MOST_CHARACTERS - 100
    now = timezone.now()
    for row, score in results.rows:
        fields = fields_of(row)
        text = fields.pop("text")
        result = {"id": row.pk, "when": in_words(row.created_at, now, zone)}
        result |= {
            "time": iso(row.created_at, zone),
            "text": "",
            **fields,
        }
        if score is not None:
            result["score"] = round(score, 4)
        size = (MOST_CHARACTERS - 100) // len(results.rows) - len(dumps(result)) - 50
        result["text"] = excerpt(text, query, max(FEWEST_SHOWN, size))
        room -= len(dumps(result)) + 2
        if room < 0:
            answer["left_out"] = len(results.rows) - len(answer["results"])
            break
        answer["results"].append(result)
    return dumps(answer)


def iso(moment: datetime, zone: tzinfo) -> str:
    """A moment to the second, as 2026-01-31T18:30:00Z or with the zone's offset."""
    return moment.astimezone(zone).isoformat(timespec="seconds").replace("+00:00", "Z")


def in_words(then: datetime, now: datetime, zone: tzinfo = UTC) -> str:
    """A moment as people say it: "Monday 3 March 2025, 18:30 UTC (8 months ago)"."""
    then = then.astimezone(zone)
    return f"{then:%A} {then.day} {then:%B %Y, %H:%M %Z} ({how_long_ago(then, now)})"


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
