"""Archival memory: passages stored, searched, changed and deleted."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Query
from pydantic import BaseModel, Field

from agents.models import Editor, Passage
from agents.search import hybrid
from agents.search.scope import Passages

from . import ids, lookups
from .auth import READ, WRITE
from .cursors import MOST, Page, page_of
from .json_router import JsonRouter
from .schemas.fields import Done, Many
from .schemas.passages import NewPassage, PassageChange, PassageResults, PassageState

router = JsonRouter(tags=["archival memory"])
MEMORY = "/agents/{agent_id}/archival-memory"


class PassageFilters(Page):
    """Which passages to list; the oldest come first."""

    limit: Annotated[int, Field(ge=1, le=MOST)] = 100
    search: Annotated[str, Field(max_length=10_000)] | None = None
    ascending: bool | None = True


class PassageSearch(BaseModel):
    """What to search for, and in which passages."""

    query: Annotated[str, Field(max_length=10_000)]
    top_k: Annotated[int, Field(ge=1, le=100)] | None = None
    tags: Many | None = None
    tag_match_mode: Literal["any", "all"] = "any"
    start_datetime: datetime | None = None
    end_datetime: datetime | None = None


@router.get(MEMORY, auth=READ, response=list[PassageState], operation_id="list_passages")
def index(request: HttpRequest, agent_id: str, filters: Query[PassageFilters]) -> list[Passage]:
    """An agent's passages, the oldest first; with `search` the best match first."""
    agent = lookups.agent(request, agent_id)
    if filters.search:
        results = hybrid.search(Passages(agent), filters.search, min(filters.limit, 100))
        return [row for row, _ in results.rows]
    rows = Passage.objects.filter(agent=agent)
    return page_of(rows, filters, lambda text: ids.key_of("passage", text))


@router.post(MEMORY, auth=WRITE, response=list[PassageState], operation_id="create_passage")
def create(request: HttpRequest, agent_id: str, data: NewPassage) -> list[Passage]:
    """Store a passage. The answer is a list with this one passage, as the SDKs expect."""
    agent = lookups.agent(request, agent_id)
    by = Editor.person(lookups.person(request), Editor.API)
    return [Passage.insert(agent, data.text, data.tags, by=by, created_at=aware(data.created_at))]


@router.get(f"{MEMORY}/search", auth=READ, response=PassageResults, operation_id="search_passages")
def search(request: HttpRequest, agent_id: str, query: Query[PassageSearch]) -> dict[str, Any]:
    """The passages that match best, by words and, if an embedding model is set, by meaning."""
    scope = Passages(
        lookups.agent(request, agent_id),
        aware(query.start_datetime),
        aware(query.end_datetime),
        tuple(query.tags or ()),
        query.tag_match_mode == "all",
    )
    results = [row for row, _ in hybrid.search(scope, query.query, query.top_k or 10).rows]
    return {"results": results, "count": len(results)}


@router.patch(
    f"{MEMORY}/{{memory_id}}",
    auth=WRITE,
    response=list[PassageState],
    operation_id="modify_passage",
)
def modify(
    request: HttpRequest, agent_id: str, memory_id: str, data: PassageChange | None = None
) -> list[Passage]:
    """Change a passage's text, tags or both."""
    passage = lookups.passage(lookups.agent(request, agent_id), memory_id)
    if data:  # letta-client 0.1.324 sends none
        passage.edit(data.text, data.tags, by=Editor.person(lookups.person(request), Editor.API))
    return [passage]


@router.delete(f"{MEMORY}/{{memory_id}}", auth=WRITE, response=Done, operation_id="delete_passage")
def delete(request: HttpRequest, agent_id: str, memory_id: str) -> dict[str, str]:
    """Delete a passage."""
    passage = lookups.passage(lookups.agent(request, agent_id), memory_id)
    passage.remove()
    return {"message": f"Passage id={ids.numbered('passage', passage.pk)} successfully deleted"}


def aware(moment: datetime | None) -> datetime | None:
    """A moment with a time zone: UTC if it names none."""
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment
