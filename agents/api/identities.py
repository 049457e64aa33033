"""Identities: the people and organisations that a script's agents and blocks are for."""

from __future__ import annotations

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Body, Query

from agents.models import Agent, Block, Identity

from . import ids, lookups
from .agent_details import AgentDetails, agent_state, details, identity_states
from .auth import READ, WRITE
from .cursors import Page, page_of
from .errors import conflict
from .json_router import JsonRouter
from .schemas.agents import AgentState
from .schemas.blocks import BlockState
from .schemas.fields import Done, Short
from .schemas.identities import IdentityChange, IdentityState, IdentityType, NewIdentity, Properties

router = JsonRouter(tags=["identities"])
ONE = "/identities/{identity_id}"


class IdentityFilters(Page):
    """Which identities to list."""

    name: Short | None = None
    identifier_key: Short | None = None
    identity_type: IdentityType | None = None


def state(identity: Identity) -> IdentityState:
    return identity_states([identity])[0]


# -- by id -----------------------------------------------------------------------------------------


@router.get("/identities/", auth=READ, response=list[IdentityState], operation_id="list_identities")
def index(request: HttpRequest, filters: Query[IdentityFilters]) -> list[IdentityState]:
    """Identities, the newest first."""
    identities: QuerySet[Identity] = lookups.identities(request)
    if filters.name is not None:
        identities = identities.filter(name__icontains=filters.name)
    if filters.identifier_key is not None:
        identities = identities.filter(identifier_key=filters.identifier_key)
    if filters.identity_type is not None:
        identities = identities.filter(identity_type=filters.identity_type)
    return identity_states(page_of(identities, filters, lambda text: ids.uuid_of("identity", text)))


@router.get("/identities/count", auth=READ, response=int, operation_id="count_identities")
def count(request: HttpRequest) -> int:
    """How many identities there are."""
    return lookups.identities(request).count()


@router.post("/identities/", auth=WRITE, response=IdentityState, operation_id="create_identity")
def create(request: HttpRequest, data: NewIdentity) -> IdentityState:
    """Create an identity; 409 if you already have one with its key."""
    identity = Identity(owner=lookups.person(request))
    return stored(request, identity, data, replace=True)


@router.put("/identities/", auth=WRITE, response=IdentityState, operation_id="upsert_identity")
def upsert(request: HttpRequest, data: NewIdentity) -> IdentityState:
    """Create an identity, or replace what the one with its key has."""
    existing = lookups.identities(request).filter(identifier_key=data.identifier_key).first()
    identity = existing or Identity(owner=lookups.person(request))
    return stored(request, identity, data, replace=True)


@router.get(ONE, auth=READ, response=IdentityState, operation_id="retrieve_identity")
def retrieve(request: HttpRequest, identity_id: str) -> IdentityState:
    """An identity."""
    return state(lookups.identity(request, identity_id))


@router.patch(ONE, auth=WRITE, response=IdentityState, operation_id="modify_identity")
def modify(request: HttpRequest, identity_id: str, data: IdentityChange) -> IdentityState:
    """Change an identity. Agents, blocks and properties are added to those it has."""
    return stored(request, lookups.identity(request, identity_id), data, replace=False)


@router.delete(ONE, auth=WRITE, response=Done, operation_id="delete_identity")
def delete(request: HttpRequest, identity_id: str) -> dict[str, str]:
    """Delete an identity; its agents and blocks are kept."""
    identity = lookups.identity(request, identity_id)
    done = {"message": f"Identity id={ids.named('identity', identity.pk)} successfully deleted"}
    identity.delete()
    return done


@router.put(
    f"{ONE}/properties", auth=WRITE, response=IdentityState, operation_id="put_identity_properties"
)
def put_properties(request: HttpRequest, identity_id: str, data: Body[Properties]) -> IdentityState:
    """Replace the properties of an identity."""
    identity = lookups.identity(request, identity_id)
    identity.change(replace=True, properties=[each.model_dump() for each in data])
    return state(identity)


def stored(
    request: HttpRequest, identity: Identity, data: NewIdentity | IdentityChange, *, replace: bool
) -> IdentityState:
    """Store the changes. 409 for a key that is taken, 404 for an agent that does not exist."""
    changes = data.model_dump(exclude_none=True)
    key = changes.get("identifier_key", identity.identifier_key)
    if lookups.identities(request).filter(identifier_key=key).exclude(pk=identity.pk).exists():
        words = f"You already have an identity with the key '{key}'; PUT /v1/identities/ changes it"
        raise conflict(f"{words}.")
    agent_ids, block_ids = (changes.pop(name, None) for name in ("agent_ids", "block_ids"))
    identity.change(
        replace=replace,
        agents=agent_ids and [lookups.agent(request, each) for each in agent_ids],
        blocks=block_ids and [lookups.block(request, each) for each in block_ids],
        **changes,
    )
    return state(identity)


# -- their agents and blocks -----------------------------------------------------------------------


@router.get(
    f"{ONE}/agents", auth=READ, response=list[AgentState], operation_id="list_identity_agents"
)
def agents(request: HttpRequest, identity_id: str, page: Query[Page]) -> list[AgentDetails]:
    """The agents of an identity, the newest first."""
    identity = lookups.identity(request, identity_id)
    held = Agent.objects.visible_to(lookups.person(request)).filter(identities=identity)
    return details(page_of(held, page, lambda text: ids.uuid_of("agent", text)))


@router.get(
    f"{ONE}/blocks", auth=READ, response=list[BlockState], operation_id="list_identity_blocks"
)
def blocks(request: HttpRequest, identity_id: str, page: Query[Page]) -> list[Block]:
    """The blocks of an identity, the newest first."""
    identity = lookups.identity(request, identity_id)
    held = lookups.blocks(request).filter(identities=identity)
    return page_of(held, page, lambda text: ids.uuid_of("block", text))


@router.patch(
    "/agents/{agent_id}/identities/attach/{identity_id}",
    auth=WRITE,
    response=AgentState,
    operation_id="attach_identity",
)
def attach(request: HttpRequest, agent_id: str, identity_id: str) -> AgentState:
    """Connect an agent with an identity."""
    agent = lookups.agent(request, agent_id)
    lookups.identity(request, identity_id).agents.add(agent)
    return agent_state(agent)


@router.patch(
    "/agents/{agent_id}/identities/detach/{identity_id}",
    auth=WRITE,
    response=AgentState,
    operation_id="detach_identity",
)
def detach(request: HttpRequest, agent_id: str, identity_id: str) -> AgentState:
    """Disconnect an agent from an identity."""
    agent = lookups.agent(request, agent_id)
    lookups.identity(request, identity_id).agents.remove(agent)
    return agent_state(agent)


def set_identities(request: HttpRequest, agent: Agent, identity_ids: list[str]) -> None:
    """Connect the agent with these identities and no others."""
    identities = [lookups.identity(request, each) for each in identity_ids]
    with transaction.atomic():
        agent.identities.set(identities)


def identities_named(
    request: HttpRequest, identity_id: str | None, identifier_keys: list[str] | None
) -> QuerySet[Identity] | None:
    """The identities that a list is filtered by; None if it is not filtered by identity."""
    if identity_id is None and identifier_keys is None:
        return None
    identities: QuerySet[Identity] = lookups.identities(request)
    if identifier_keys is not None:
        identities = identities.filter(identifier_key__in=identifier_keys)
    if identity_id is not None:
        known = ids.known("identity", identity_id)
        identities = identities.filter(pk=known) if known else identities.none()
    return identities
