"""What there is: health, models, tags."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Query, Router

from agents.llm import Endpoint, ModelError, default_endpoint, default_model
from agents.llm.embeddings import embedding_model
from agents.llm.endpoints import named_endpoints
from agents.llm.handles import known_models
from agents.llm.windows import window_of
from agents.models import AgentTag, EmbeddingModel

from . import lookups
from .auth import READ
from .cursors import Page, part_of
from .schemas.catalogue import EmbeddingModelState, Health, ModelState
from .schemas.fields import Short
from .serializers import EMBEDDING_DIM

router = Router(tags=["catalogue"])
VERSION = "0.16.8"  # of the wire, which SDKs may look at


class WantedTags(Page):
    """Which tags; by name, A to Z."""

    name: Short | None = None
    query_text: Short | None = None


@router.get("/health/", response=Health, auth=None, operation_id="check_health")
def health(request: HttpRequest) -> dict[str, str]:
    """That the server answers, and which version of the wire it speaks."""
    return {"version": VERSION, "status": "ok"}


@router.get("/models/", auth=READ, response=list[ModelState], operation_id="list_models")
def models(request: HttpRequest) -> list[dict[str, Any]]:
    """The models that can answer; the first is the usual one."""
    default = default_endpoint()
    endpoints = {default.name: default} | named_endpoints()
    found = [model_state(each, name) for each in endpoints.values() for name in names(each)]
    try:
        first = f"{default.name}/{default_model(default)}"
    except ModelError:
        return found
    return sorted(found, key=lambda state: state["handle"] != first)


def names(endpoint: Endpoint) -> list[str]:
    """The endpoint's models; what is usual there if it does not say."""
    try:
        usual = default_model(endpoint)
        return list(dict.fromkeys([usual, *([] if endpoint.is_demo else known_models(endpoint))]))
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
    """The model that makes vectors, where one is set."""
    where = embedding_model()
    if where is None:
        return []
    endpoint, name = where
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
    """The same, where some SDKs look for it."""
    return embedding_models(request)


@router.get("/tags/", auth=READ, response=list[str], operation_id="list_tags")
def tags(request: HttpRequest, wanted: Query[WantedTags]) -> list[str]:
    """The tags of a person's agents."""
    user = lookups.person(request)
    rows: QuerySet[AgentTag] = AgentTag.objects.filter(agent__owner=user, agent__deleted_at=None)
    searched = wanted.query_text or wanted.name
    if searched:
        rows = rows.filter(tag__icontains=searched)
    found = sorted(set(rows.values_list("tag", flat=True)))
    if request.GET.get("order") == "desc":
        found.reverse()
    return part_of(found, wanted, lambda tag: tag)
