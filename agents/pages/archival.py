"""Archival memory, browsed and searched. `passages` changes it, `archival_changes` follows it."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.db import connection
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext
from django.views.decorators.http import require_GET

from agents.models import Agent, AttachedFile, Conversation, MemoryRefusal, Passage
from agents.models.event import snapshot
from agents.models.passage import MOST_TAGS
from agents.search import words
from agents.search.embedder import progress
from agents.search.hybrid import search
from agents.search.scope import Passages

from .request import Request, find_agent, query_number

PASSAGES_A_PAGE = 30
RESULTS = 50
LONGEST_SHOWN = 500  # characters, and
MOST_LINES = 10  # lines of a passage; the rest is folded
LONGEST_QUERY = 2_000  # characters
TAGGED = 2_000  # newest passages whose tags are offered
TAGS_OFFERED = 24
FILES = 20  # that are being read, or were not
MOST_KNOWN = 60  # newest passages of a list, by which it finds the place of a new one


# -- filters -----------------------------------------------------------------------------


@dataclass(frozen=True)
class PassageFilters:
    """What a list shows: passages that match the words `query`, or all; with any or all `tags`."""

    query: str
    tags: tuple[str, ...]
    all_tags: bool

    @classmethod
    def from_query(cls, request: Request) -> PassageFilters:
        """`?q=<words>`, `tags=<typed>` or `tag=<tag>` many times, `all`; whatever that says."""
        try:
            typed = parse_tags(request.GET.get("tags", ""))
        except MemoryRefusal:
            typed = []
        tags = dict.fromkeys(tag for tag in [*typed, *request.GET.getlist("tag")] if tag.strip())
        query = request.GET.get("q", "")[:LONGEST_QUERY]
        return cls(query, tuple(tags)[:MOST_TAGS], bool(request.GET.get("all")))

    def scope(self, agent: Agent) -> Passages:
        return Passages(agent, tags=self.tags, all_tags=self.all_tags)

    @property
    def searches(self) -> bool:
        return bool(self.query.strip())

    @property
    def tags_json(self) -> str:
        return json.dumps(self.tags)

    def address(self, **further: object) -> str:
        """The part of an address that names this filter, and more."""
        given = {
            "q": self.query,
            "tags": format_tags(self.tags),
            "all": "1" if self.all_tags else "",
        }
        return urlencode({name: value for name, value in {**given, **further}.items() if value})


def parse_tags(typed: str) -> list[str]:
    """Tags as a person types them: `travel, food, "one, with a comma"`."""
    try:
        rows = csv.reader([typed.replace("\r", " ").replace("\n", " ")], skipinitialspace=True)
        return [tag for tag in map(str.strip, next(rows, [])) if tag]
    except csv.Error:
        raise MemoryRefusal(gettext("The tags are too long; shorten them.")) from None


def format_tags(tags: Iterable[str]) -> str:
    """Tags as `parse_tags` reads them."""

    def quoted(tag: str) -> str:
        tag = " ".join(tag.splitlines())
        return '"' + tag.replace('"', '""') + '"' if {",", '"'} & {*tag} else tag

    return ", ".join(map(quoted, tags))


# -- what is shown ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class PassageEntry:
    """A passage as a list shows it; of a long one `text` is a part."""

    passage: Passage
    text: str

    @classmethod
    def of(cls, passage: Passage, query: str = "") -> PassageEntry:
        """The passage's beginning, or what is around the first word of the query."""
        text = passage.text
        if len(text) > LONGEST_SHOWN and query:
            return cls(passage, words.excerpt(text, query, LONGEST_SHOWN))
        cut = "\n".join(text[: LONGEST_SHOWN + 1].split("\n")[:MOST_LINES])[:LONGEST_SHOWN]
        return cls(passage, text if len(cut) == len(text) else f"{cut.rstrip()} …")

    @property
    def is_long(self) -> bool:
        return self.text != self.passage.text

    @property
    def tags(self) -> list[tuple[str, str]]:
        """Each tag with the part of an address that names all passages with it."""
        return [(tag, PassageFilters("", (tag,), False).address()) for tag in self.passage.tags]

    @property
    def is_changed(self) -> bool:
        """Whether its text or tags were changed after it was stored."""
        written = self.passage.updated_at - self.passage.created_at
        return written.total_seconds() >= 1


def passages_page(scope: Passages, before: tuple[datetime, int] | None = None) -> list[Passage]:
    """The newest passages of a scope, or those before one; one more than a page shows."""
    where, parameters = scope.conditions()
    if before:
        where.append("(r.created_at, r.id) < (%s, %s)")
        parameters += [connection.ops.adapt_datetimefield_value(before[0]), before[1]]
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT r.id FROM {scope.table} r WHERE r.agent_id = %s"
            f"{''.join(f' AND {each}' for each in where)}"
            " ORDER BY r.created_at DESC, r.id DESC LIMIT %s",
            [scope.agent_key, *parameters, PASSAGES_A_PAGE + 1],
        )
        keys = [key for (key,) in cursor.fetchall()]
    return list(passages_of(scope.agent).filter(pk__in=keys))


def passages_of(agent: Agent) -> QuerySet[Passage]:
    """An agent's passages, newest first, with the step each was written in."""
    rows = Passage.objects.filter(agent=agent).select_related("step__run__agent")
    return rows.order_by("-created_at", "-pk")


def page_context(agent: Agent, filters: PassageFilters, found: list[Passage]) -> dict[str, Any]:
    """One page of the list and how it goes on. `found` may hold one too many."""
    shown = found[:PASSAGES_A_PAGE]
    more = len(found) > PASSAGES_A_PAGE
    last = {"before": shown[-1].created_at.isoformat(), "id": shown[-1].pk} if more else {}
    return {
        "agent": agent,
        "entries": [PassageEntry.of(passage) for passage in shown],
        "older": filters.address(**last) if more else "",
    }


def search_context(agent: Agent, filters: PassageFilters) -> dict[str, Any]:
    """What a search finds. Not within `snapshot()`: it may ask for the query's vector."""
    seq = agent.last_seq
    found = search(filters.scope(agent), filters.query, RESULTS)
    keys = [passage.pk for passage, _ in found.rows]
    steps = passages_of(agent).in_bulk(keys)
    return {
        "agent": agent,
        "entries": [PassageEntry.of(steps[key], filters.query) for key in keys if key in steps],
        "is_limited": len(keys) == RESULTS,
        "by_words_only": found.semantic is False,
        "newer": filters.address(after=seq),
    }


def resume_query(agent: Agent, filters: PassageFilters, known: list[int], more: bool) -> str:
    """Up to where a list has seen the log, and which passages are its newest."""
    more = more or len(known) > MOST_KNOWN
    named = ",".join(map(str, known[:MOST_KNOWN]))
    return filters.address(after=agent.last_seq, known=named, more="1" if more else "")


def list_context(agent: Agent, filters: PassageFilters) -> dict[str, Any]:
    """A list as it begins: the newest, or what is found."""
    if filters.searches:
        return {**search_context(agent, filters), "filters": filters}
    found = passages_page(filters.scope(agent))
    shown = [passage.pk for passage in found[:PASSAGES_A_PAGE]]
    newer = resume_query(agent, filters, shown, more=len(found) > len(shown))
    return {**page_context(agent, filters, found), "newer": newer, "filters": filters}


def frame_context(agent: Agent, filters: PassageFilters) -> dict[str, Any]:
    """What is around the list."""
    return {
        "filters": filters,
        "tags": tag_choices(agent, filters),
        "newest_only": agent.passage_count > TAGGED,
        "embedding": embedding_progress(agent),
        "files": agent.attached_files.exclude(status=AttachedFile.Status.DONE)[:FILES],
        "has_tools": "archival_memory_search" in agent.tools,
    }


def tag_choices(agent: Agent, filters: PassageFilters) -> list[tuple[str, int]]:
    """The tags of the newest passages with how often they stand there, the most frequent first.

    Those that are asked for come first if they are not among these.
    """
    newest = agent.passages.order_by("-created_at", "-pk").values_list("tags", flat=True)[:TAGGED]
    often = Counter(tag for tags in newest for tag in tags)
    offered = sorted(often.items(), key=lambda item: (-item[1], item[0]))[:TAGS_OFFERED]
    there = {tag for tag, _ in offered}
    return [(tag, often[tag]) for tag in filters.tags if tag not in there] + offered


def embedding_progress(agent: Agent) -> dict[str, Any] | None:
    """How far the vectors are, of how many texts; None where no embedding model is set."""
    state = progress(agent)
    if state is None:
        return None
    done, total, name = state
    return {"done": min(done, total), "total": total, "model": name}


# -- looking ---------------------------------------------------------------------------------------


def tab(request: Request, conversation: Conversation) -> dict[str, Any]:
    """The Archival tab; what a search finds is fetched by the page, as it may take its time."""
    agent = conversation.agent
    filters = PassageFilters.from_query(request)
    return {
        **frame_context(agent, filters),
        **({} if filters.searches else list_context(agent, filters)),
    }


@login_required
@require_GET
def show(request: Request, agent_id: UUID) -> HttpResponse:
    """The list for a filter."""
    filters = PassageFilters.from_query(request)
    if filters.searches:
        context = list_context(find_agent(request, agent_id), filters)
        return render(request, "agents/archival/_found.html", context)
    with snapshot():
        context = list_context(find_agent(request, agent_id), filters)
        return render(request, "agents/archival/_found.html", context)


@login_required
@require_GET
def older(request: Request, agent_id: UUID) -> HttpResponse:
    """The passages before `?before=<time>&id=<id>`, for scrolling down."""
    filters = PassageFilters.from_query(request)
    try:
        moment = parse_datetime(request.GET.get("before", ""))
    except ValueError:
        moment = None
    before = (moment, query_number(request, "id")) if moment and moment.tzinfo else None
    with snapshot():
        agent = find_agent(request, agent_id)
        context = page_context(agent, filters, passages_page(filters.scope(agent), before))
        return render(request, "agents/archival/_entries.html", {**context, "filters": filters})


@login_required
@require_GET
def whole(request: Request, agent_id: UUID, passage_id: int) -> HttpResponse:
    """All of a passage's text."""
    passage = get_object_or_404(find_agent(request, agent_id).passages, pk=passage_id)
    return render(request, "agents/archival/_whole.html", {"passage": passage})


@login_required
@require_GET
def embedded(request: Request, agent_id: UUID) -> HttpResponse:
    """How far the vectors are."""
    agent = find_agent(request, agent_id)
    context = {"agent": agent, "embedding": embedding_progress(agent)}
    return render(request, "agents/archival/_embedding.html", context)
