"""Archival memory: passages put away, looked up, changed and deleted."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Query, Router
from pydantic import BaseModel, Field

from agents.models import Editor, Passage
from agents.search import hybrid
from agents.search.scope import Passages

from . import ids, lookups
from .auth import READ, WRITE
from .cursors import MOST, Page, page_of
from .schemas.fields import Done, Many
from .schemas.passages import FoundPassages, NewPassage, PassageChange, PassageState
from .serializers import passage_state

router = Router(tags=["archival memory"])
MEMORY = "/agents/{agent_id}/archival-memory"


class Wanted(Page):
    """Which passages; the oldest come first."""

    limit: Annotated[int, Field(ge=1, le=MOST)] = 100
    search: Annotated[str, Field(max_length=10_000)] | None = None
    ascending: bool | None = True


class Search(BaseModel):
    """What to look for, and among what."""

    query: Annotated[str, Field(max_length=10_000)]
    top_k: Annotated[int, Field(ge=1, le=100)] | None = None
    tags: Many | None = None
    tag_match_mode: Literal["any", "all"] = "any"
    start_datetime: datetime | None = None
    end_datetime: datetime | None = None


@router.get(MEMORY, auth=READ, response=list[PassageState], operation_id="list_passages")
def index(request: HttpRequest, agent_id: str, wanted: Query[Wanted]) -> list[dict[str, Any]]:
    """An agent's passages, the oldest first; with `search` the best found first."""
    agent = lookups.agent(request, agent_id)
    if wanted.search:
        found = hybrid.search(Passages(agent), wanted.search, min(wanted.limit, 100))
        return [passage_state(row) for row, _ in found.rows]
    rows = Passage.objects.filter(agent=agent)
    found_rows = page_of(rows, wanted, lambda text: ids.key_of("passage", text))
    return [passage_state(row) for row in found_rows]


@router.post(MEMORY, auth=WRITE, response=list[PassageState], operation_id="create_passage")
def create(request: HttpRequest, agent_id: str, data: NewPassage) -> list[dict[str, Any]]:
    """Put a text away. The answer is a list, as the wire has it, with this one passage."""
    agent = lookups.agent(request, agent_id)
    by = Editor.person(lookups.person(request), Editor.API)
    made = Passage.insert(agent, data.text, data.tags, by=by, created_at=aware(data.created_at))
    return [passage_state(made)]


@router.get(f"{MEMORY}/search", auth=READ, response=FoundPassages, operation_id="search_passages")
def search(request: HttpRequest, agent_id: str, wanted: Query[Search]) -> dict[str, Any]:
    """The passages that fit a query best, by words and, where a model is set, by meaning."""
    scope = Passages(
        lookups.agent(request, agent_id),
        aware(wanted.start_datetime),
        aware(wanted.end_datetime),
        tuple(wanted.tags or ()),
        wanted.tag_match_mode == "all",
    )
    found = hybrid.search(scope, wanted.query, wanted.top_k or 10)
    results = [
        {
            "id": ids.numbered("passage", row.pk),
            "content": row.text,
            "timestamp": row.created_at,
            "tags": row.tags,
        }
        for row, _ in found.rows
    ]
    return {"results": results, "count": len(results)}


@router.patch(
    f"{MEMORY}/{{memory_id}}",
    auth=WRITE,
    response=list[PassageState],
    operation_id="modify_passage",
)
def modify(
    request: HttpRequest, agent_id: str, memory_id: str, data: PassageChange | None = None
) -> list[dict[str, Any]]:
    """Change a passage's text, tags or both."""
    passage = lookups.passage(lookups.agent(request, agent_id), memory_id)
    if data:  # letta-client 0.1.324 sends none
        passage.edit(data.text, data.tags, by=Editor.person(lookups.person(request), Editor.API))
    return [passage_state(passage)]


@router.delete(f"{MEMORY}/{{memory_id}}", auth=WRITE, response=Done, operation_id="delete_passage")
def delete(request: HttpRequest, agent_id: str, memory_id: str) -> dict[str, str]:
    """Delete a passage."""
    passage = lookups.passage(lookups.agent(request, agent_id), memory_id)
    passage.remove()
    return {"message": f"Passage id={ids.numbered('passage', passage.pk)} successfully deleted"}


def aware(moment: datetime | None) -> datetime | None:
    """A moment with a time zone: UTC where none was given."""
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment
