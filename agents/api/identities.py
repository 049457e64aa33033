"""Identities: whom a script's agents and blocks are for, by keys of its own."""

from __future__ import annotations

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Body, Query, Router

from agents.models import Agent, Identity

from . import ids, lookups
from .auth import READ, WRITE
from .cursors import Page, page_of
from .errors import conflict
from .identity_serializers import State, identity_states
from .schemas.agents import AgentState
from .schemas.blocks import BlockState
from .schemas.fields import Done, Short
from .schemas.identities import IdentityChange, IdentityState, IdentityType, NewIdentity, Properties
from .serializers import agent_state, agent_states, block_state

router = Router(tags=["identities"])
ONE = "/identities/{identity_id}"


class Wanted(Page):
    """Which identities."""

    name: Short | None = None
    identifier_key: Short | None = None
    identity_type: IdentityType | None = None


def state(identity: Identity) -> State:
    return identity_states([identity])[0]


# -- by themselves ---------------------------------------------------------------------------------


@router.get("/identities/", auth=READ, response=list[IdentityState], operation_id="list_identities")
def index(request: HttpRequest, wanted: Query[Wanted]) -> list[State]:
    """Identities, the newest first."""
    identities: QuerySet[Identity] = lookups.identities(request)
    if wanted.name is not None:
        identities = identities.filter(name__icontains=wanted.name)
    if wanted.identifier_key is not None:
        identities = identities.filter(identifier_key=wanted.identifier_key)
    if wanted.identity_type is not None:
        identities = identities.filter(identity_type=wanted.identity_type)
    found = page_of(identities, wanted, lambda text: ids.uuid_of("identity", text))
    return identity_states(found)


@router.get("/identities/count", auth=READ, response=int, operation_id="count_identities")
def count(request: HttpRequest) -> int:
    """How many identities there are."""
    return lookups.identities(request).count()


@router.post("/identities/", auth=WRITE, response=IdentityState, operation_id="create_identity")
def create(request: HttpRequest, data: NewIdentity) -> State:
    """Make an identity; 409 where there is one of its key."""
    identity = Identity(owner=lookups.person(request))
    return stored(request, identity, data, replace=True)


@router.put("/identities/", auth=WRITE, response=IdentityState, operation_id="upsert_identity")
def upsert(request: HttpRequest, data: NewIdentity) -> State:
    """Make an identity, or let what is given take the place of what the one of its key has."""
    found = lookups.identities(request).filter(identifier_key=data.identifier_key).first()
    identity = found or Identity(owner=lookups.person(request))
    return stored(request, identity, data, replace=True)


@router.get(ONE, auth=READ, response=IdentityState, operation_id="retrieve_identity")
def retrieve(request: HttpRequest, identity_id: str) -> State:
    """An identity."""
    return state(lookups.identity(request, identity_id))


@router.patch(ONE, auth=WRITE, response=IdentityState, operation_id="modify_identity")
def modify(request: HttpRequest, identity_id: str, data: IdentityChange) -> State:
    """Change an identity. Agents, blocks and properties that are given come to those it has."""
    return stored(request, lookups.identity(request, identity_id), data, replace=False)


@router.delete(ONE, auth=WRITE, response=Done, operation_id="delete_identity")
def delete(request: HttpRequest, identity_id: str) -> dict[str, str]:
    """Delete an identity; its agents and blocks stay."""
    identity = lookups.identity(request, identity_id)
    done = {"message": f"Identity id={ids.named('identity', identity.pk)} successfully deleted"}
    identity.delete()
    return done


@router.put(
    f"{ONE}/properties", auth=WRITE, response=IdentityState, operation_id="put_identity_properties"
)
def put_properties(request: HttpRequest, identity_id: str, data: Body[Properties]) -> State:
    """Give an identity these properties, in place of those it had."""
    identity = lookups.identity(request, identity_id)
    identity.change(replace=True, properties=[each.model_dump() for each in data])
    return state(identity)


def stored(
    request: HttpRequest, identity: Identity, data: NewIdentity | IdentityChange, *, replace: bool
) -> State:
    """Store what was given. 409 for a key that another has, 404 for an agent that is not there."""
    given = data.model_dump(exclude_none=True)
    key = given.get("identifier_key", identity.identifier_key)
    if lookups.identities(request).filter(identifier_key=key).exclude(pk=identity.pk).exists():
        words = f"You already have an identity with the key '{key}'; PUT /v1/identities/ changes it"
        raise conflict(f"{words}.")
    agent_ids, block_ids = (given.pop(name, None) for name in ("agent_ids", "block_ids"))
    identity.change(
        replace=replace,
        agents=agent_ids and [lookups.agent(request, each) for each in agent_ids],
        blocks=block_ids and [lookups.block(request, each) for each in block_ids],
        **given,
    )
    return state(identity)


# -- their agents and blocks -----------------------------------------------------------------------


@router.get(
    f"{ONE}/agents", auth=READ, response=list[AgentState], operation_id="list_identity_agents"
)
def agents(request: HttpRequest, identity_id: str, wanted: Query[Page]) -> list[State]:
    """The agents of an identity, the newest first."""
    identity = lookups.identity(request, identity_id)
    held = Agent.objects.visible_to(lookups.person(request)).filter(identities=identity)
    found = page_of(held, wanted, lambda text: ids.uuid_of("agent", text))
    return agent_states(found, lookups.person(request))


@router.get(
    f"{ONE}/blocks", auth=READ, response=list[BlockState], operation_id="list_identity_blocks"
)
def blocks(request: HttpRequest, identity_id: str, wanted: Query[Page]) -> list[State]:
    """The blocks of an identity, the newest first."""
    identity = lookups.identity(request, identity_id)
    held = lookups.blocks(request).filter(identities=identity)
    found = page_of(held, wanted, lambda text: ids.uuid_of("block", text))
    return [block_state(block) for block in found]


@router.patch(
    "/agents/{agent_id}/identities/attach/{identity_id}",
    auth=WRITE,
    response=AgentState,
    operation_id="attach_identity",
)
def attach(request: HttpRequest, agent_id: str, identity_id: str) -> State:
    """Say that an agent is an identity's."""
    agent = lookups.agent(request, agent_id)
    lookups.identity(request, identity_id).agents.add(agent)
    return agent_state(agent)


@router.patch(
    "/agents/{agent_id}/identities/detach/{identity_id}",
    auth=WRITE,
    response=AgentState,
    operation_id="detach_identity",
)
def detach(request: HttpRequest, agent_id: str, identity_id: str) -> State:
    """Say that an agent is an identity's no more."""
    agent = lookups.agent(request, agent_id)
    lookups.identity(request, identity_id).agents.remove(agent)
    return agent_state(agent)


def holding_only(request: HttpRequest, agent: Agent, identity_ids: list[str]) -> None:
    """Have the agent be just these identities'."""
    wanted = [lookups.identity(request, each) for each in identity_ids]
    with transaction.atomic():
        agent.identities.set(wanted)


def of_identities(
    request: HttpRequest, identity_id: str | None, identifier_keys: list[str] | None
) -> QuerySet[Identity] | None:
    """The identities that a list is asked for by; None where it is asked for by none."""
    if identity_id is None and identifier_keys is None:
        return None
    found: QuerySet[Identity] = lookups.identities(request)
    if identifier_keys is not None:
        found = found.filter(identifier_key__in=identifier_keys)
    if identity_id is not None:
        known = ids.known("identity", identity_id)
        found = found.filter(pk=known) if known else found.none()
    return found
