"""What became of archival memory while somebody looks at a list of it, by the agent's log."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from agents.models import Agent, Event, Passage
from agents.models.event import snapshot

from .archival import (
    MOST_KNOWN,
    PassageEntry,
    PassageFilters,
    frame_context,
    passages_of,
    resume_query,
)
from .request import Request, find_agent, query_number

MOST_EVENTS = 100  # that a list is brought up to date by; after more it is to be shown anew
MOST_CHANGED = 200  # passages of these


@login_required
@require_GET
def newer(request: Request, agent_id: UUID) -> HttpResponse:
    """What a list has to show since the event `?after=<seq>`.

    `known` are the newest passages of the list, so that a new one is put where it belongs; `more`
    says that older ones follow. Results of a search stay as they are: the page says that they may
    be others by now. What is around the list is told also where the list has it all: one that was
    searched for anew is ahead of its frame.
    """
    filters = PassageFilters.from_query(request)
    with snapshot():
        agent = find_agent(request, agent_id)
        changed = changed_since(agent, query_number(request, "after"))
        if changed is None:
            context = {"outdated": True, "newer": filters.address(after=agent.last_seq)}
        else:
            context = update_context(request, agent, filters, *changed)
        context |= {"agent": agent, **frame_context(agent, filters)}
        return render(request, "agents/archival/_newer.html", context)


def changed_since(agent: Agent, after: int) -> tuple[set[int], set[int]] | None:
    """The passages written or deleted, and those recalled, after an event; None if very many."""
    log = agent.events.after(after).filter(kind=Event.Kind.ARCHIVAL_CHANGED)
    events = list(log.values_list("data", flat=True)[: MOST_EVENTS + 1])
    written = {data["passage"] for data in events if "passage" in data}
    written |= {key for data in events for key in data.get("passages", ())}
    recalled = {key for data in events for key in data.get("recalled", ())}
    if len(events) > MOST_EVENTS or len(written | recalled) > MOST_CHANGED:
        return None
    return written, recalled


def update_context(
    request: Request, agent: Agent, filters: PassageFilters, written: set[int], recalled: set[int]
) -> dict[str, Any]:
    """What brings a list up to date."""
    rows = list(passages_of(agent).filter(pk__in=written | recalled))
    if filters.searches:
        return {
            "changed": [PassageEntry.of(passage, filters.query) for passage in rows],
            "gone": written - {passage.pk for passage in rows},
            "outdated": bool(written),
            "newer": filters.address(after=agent.last_seq),
        }
    scope = filters.scope(agent)
    fit = [passage for passage in rows if scope.holds(passage)]
    more = bool(request.GET.get("more"))
    known = list(
        passages_of(agent).defer("text").filter(pk__in=ids_in(request.GET.get("known", "")))
    )
    placed = place_new(fit, known, more)
    inside = [passage for passage in known if scope.holds(passage)]
    inside += [passage for passage, _ in placed]
    inside.sort(key=sort_key, reverse=True)
    return {
        "changed": [PassageEntry.of(passage) for passage in fit],
        "placed": [(PassageEntry.of(passage), before) for passage, before in placed],
        "gone": written - {passage.pk for passage in fit},
        "newer": resume_query(agent, filters, [passage.pk for passage in inside], more),
    }


def place_new(
    fit: list[Passage], known: list[Passage], more: bool
) -> list[tuple[Passage, Passage | None]]:
    """Which passages are new in a list, and before which known one each belongs; None: at the end.

    Both are newest first. Where `more` follows, what is older than all known is further down.
    """
    there = {passage.pk for passage in known}
    new = [passage for passage in fit if passage.pk not in there]
    found = [(each, next((k for k in known if sort_key(k) < sort_key(each)), None)) for each in new]
    return [(each, before) for each, before in found if before or not more]


def sort_key(passage: Passage) -> tuple[datetime, int]:
    """What passages are sorted by."""
    return passage.created_at, passage.pk


def ids_in(listed: str) -> list[int]:
    """Ids as an address lists them."""
    parts = listed.split(",")[:MOST_KNOWN]
    return [int(part) for part in parts if part.isdecimal() and len(part) < 18]
