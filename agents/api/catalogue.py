"""Health, models and tags."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Query

from agents.llm import Endpoint, ModelError, default_endpoint, default_model
from agents.llm.available import named_endpoints
from agents.llm.embeddings import embedding_model
from agents.llm.handles import listed_models
from agents.llm.windows import window_of
from agents.models import AgentTag, EmbeddingModel

from . import lookups
from .agent_details import EMBEDDING_DIM
from .auth import READ
from .cursors import Page, ordered, part_of
from .json_router import JsonRouter
from .schemas.catalogue import EmbeddingModelState, Health, ModelState
from .schemas.fields import Short

router = JsonRouter(tags=["catalogue"])
VERSION = "0.16.8"  # of Letta's API, which SDKs may look at


class TagFilters(Page):
    """Which tags to list; A to Z."""

    name: Short | None = None
    query_text: Short | None = None


@router.get("/health/", response=Health, auth=None, operation_id="check_health")
def health(request: HttpRequest) -> dict[str, str]:
    """That the server answers, and which version of Letta's API it follows."""
    return {"version": VERSION, "status": "ok"}


@router.get("/models/", auth=READ, response=list[ModelState], operation_id="list_models")
def models(request: HttpRequest) -> list[dict[str, Any]]:
    """The models that can answer for the person's agents; the first is the default."""
    person = lookups.person(request).pk
    default = default_endpoint(person)
    endpoints = {default.name: default} | named_endpoints(person)
    states = [model_state(each, name) for each in endpoints.values() for name in names(each)]
    try:
        first = f"{default.name}/{default_model(default)}"
    except ModelError:
        return states
    return sorted(states, key=lambda state: state["handle"] != first)


def names(endpoint: Endpoint) -> list[str]:
    """The endpoint's models, its default one first; none if it does not list them."""
    try:
        more = [] if endpoint.is_demo else listed_models(endpoint)
        return list(dict.fromkeys([default_model(endpoint), *more]))
    except ModelError:
        return []


def model_state(endpoint: Endpoint, name: str) -> dict[str, Any]:
    window = window_of(endpoint, name, ask=False)
    return {
        "handle": f"{endpoint.name}/{name}",
        "name": name,
        "display_name": name,
        "model": name,
        "model_endpoint": None if endpoint.is_demo else endpoint.base_url,
        "provider_name": endpoint.name,
        "context_window": window,
        "max_context_window": window,
    }


@router.get(
    "/models/embedding",
    auth=READ,
    response=list[EmbeddingModelState],
    operation_id="list_embedding_models",
)
def embedding_models(request: HttpRequest) -> list[dict[str, Any]]:
    """The embedding model, if one is set."""
    model = embedding_model()
    if model is None:
        return []
    endpoint, name = model
    known = EmbeddingModel.objects.filter(name__endswith=name).order_by("-pk").first()
    return [
        {
            "handle": f"{endpoint.name}/{name}",
            "name": name,
            "display_name": name,
            "embedding_model": name,
            "embedding_endpoint": endpoint.base_url,
            "embedding_dim": known.dimensions if known else EMBEDDING_DIM,
            "provider_name": endpoint.name,
        }
    ]


@router.get(
    "/models/embeddings",
    auth=READ,
    response=list[EmbeddingModelState],
    operation_id="list_embeddings",
)
def embeddings(request: HttpRequest) -> list[dict[str, Any]]:
    """The same, at the address that some SDKs use."""
    return embedding_models(request)


@router.get("/tags/", auth=READ, response=list[str], operation_id="list_tags")
def tags(request: HttpRequest, filters: Query[TagFilters]) -> list[str]:
    """The tags of a person's agents."""
    user = lookups.person(request)
    rows: QuerySet[AgentTag] = AgentTag.objects.filter(agent__owner=user, agent__deleted_at=None)
    searched = filters.query_text or filters.name
    if searched:
        rows = rows.filter(tag__icontains=searched)
    names = sorted(set(rows.values_list("tag", flat=True)))
    return part_of(ordered(request, names), filters, lambda tag: tag)
