"""Archives: each agent's archival memory is one, which only that agent has.

The archive of `agent-…` is `archive-…`, with the same UUID.
"""

from __future__ import annotations

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from ninja import Query

from agents.models import Agent, Editor, Passage

from . import ids, lookups
from .auth import READ, WRITE
from .cursors import Page, page_of
from .errors import not_found
from .json_router import JsonRouter
from .passages import aware
from .schemas.archives import ArchiveState, NewArchivePassage, NewArchivePassages
from .schemas.fields import Short
from .schemas.passages import PassageState

router = JsonRouter(tags=["archival memory"])
ONE = "/archives/{archive_id}"


class ArchiveFilters(Page):
    """Which archives to list."""

    agent_id: Short | None = None
    name: Short | None = None


@router.get("/archives/", auth=READ, response=list[ArchiveState], operation_id="list_archives")
def index(request: HttpRequest, filters: Query[ArchiveFilters]) -> list[Agent]:
    """The archival memory of each agent, the newest agent first."""
    agents = Agent.objects.visible_to(lookups.person(request))
    if filters.agent_id is not None:
        agents = agents.filter(pk=lookups.agent(request, filters.agent_id).pk)
    if filters.name is not None:
        agents = agents.filter(name=filters.name)
    return page_of(agents, filters, lambda text: ids.uuid_of("archive", text))


@router.get(ONE, auth=READ, response=ArchiveState, operation_id="retrieve_archive")
def retrieve(request: HttpRequest, archive_id: str) -> Agent:
    """An agent's archival memory, which has the agent's name."""
    return agent_of(request, archive_id)


@router.post(
    f"{ONE}/passages", auth=WRITE, response=PassageState, operation_id="create_archive_passage"
)
def create_passage(request: HttpRequest, archive_id: str, data: NewArchivePassage) -> Passage:
    """Store a passage in an agent's archival memory."""
    return stored(request, agent_of(request, archive_id), data)


@router.post(
    f"{ONE}/passages/batch",
    auth=WRITE,
    response=list[PassageState],
    operation_id="create_archive_passages",
)
def create_passages(
    request: HttpRequest, archive_id: str, data: NewArchivePassages
) -> list[Passage]:
    """Store passages in an agent's archival memory, all of them or none."""
    agent = agent_of(request, archive_id)
    with transaction.atomic():
        return [stored(request, agent, each) for each in data.passages]


@router.delete(
    f"{ONE}/passages/{{passage_id}}",
    auth=WRITE,
    response=None,
    operation_id="delete_archive_passage",
)
def delete_passage(request: HttpRequest, archive_id: str, passage_id: str) -> HttpResponse:
    """Delete a passage."""
    lookups.passage(agent_of(request, archive_id), passage_id).remove()
    return HttpResponse("null", content_type="application/json")


def agent_of(request: HttpRequest, archive_id: str) -> Agent:
    """The agent whose archival memory an archive is."""
    agent = Agent.find_visible_to(lookups.person(request), ids.uuid_of("archive", archive_id))
    if agent is None:
        raise not_found("archive", archive_id)
    lookups.check_role(request, agent, lookups.needed(request))
    return agent


def stored(request: HttpRequest, agent: Agent, data: NewArchivePassage) -> Passage:
    by = Editor.person(lookups.person(request), Editor.API)
    return Passage.insert(agent, data.text, data.tags, by=by, created_at=aware(data.created_at))
