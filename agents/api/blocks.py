"""Blocks: by themselves, and as an agent holds them, by label."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from ninja import Header, Query, Router

from agents.models import Agent, Block, Editor, MemoryRefusal

from . import ids, lookups
from .auth import READ, WRITE
from .cursors import Page, page_of, part_of
from .errors import Refused, conflict
from .identities import of_identities
from .schemas.agents import AgentState
from .schemas.blocks import BlockChange, BlockState, CoreMemory, NewBlock
from .schemas.fields import Done, Many, Short
from .serializers import agent_state, block_id, block_state, core_memory_state
from .versions import hold_expected, tagged

router = Router(tags=["blocks"])
IfMatch = Annotated[str | None, Header(alias="If-Match")]
DEFAULT_LIMIT = 5000  # characters, where a script names no limit


class Wanted(Page):
    """Which blocks."""

    label: Short | None = None
    name: Short | None = None
    label_search: Short | None = None
    value_search: Short | None = None
    description_search: Short | None = None
    identity_id: Short | None = None
    identifier_keys: Many | None = None
    templates_only: bool = False


# -- by themselves ---------------------------------------------------------------------------------


@router.post("/blocks/", auth=WRITE, response=BlockState, operation_id="create_block")
def create(request: HttpRequest, data: NewBlock) -> dict[str, Any]:
    """Make a block, which agents can then hold."""
    block = made(lookups.person(request), data)
    block.full_clean(exclude=["owner"])
    block.save(force_insert=True)
    return block_state(block)


@router.get("/blocks/", auth=READ, response=list[BlockState], operation_id="list_blocks")
def index(request: HttpRequest, wanted: Query[Wanted]) -> list[dict[str, Any]]:
    """Blocks, the newest first."""
    found = page_of(filtered(request, wanted), wanted, lambda text: ids.uuid_of("block", text))
    return [block_state(block) for block in found]


def filtered(request: HttpRequest, wanted: Wanted) -> QuerySet[Block]:
    exact = {"label": wanted.label, "name": wanted.name}
    parts = {
        "label__icontains": wanted.label_search,
        "value__icontains": wanted.value_search,
        "description__icontains": wanted.description_search,
    }
    given = {name: value for name, value in (exact | parts).items() if value is not None}
    blocks = lookups.blocks(request).filter(**given)
    identities = of_identities(request, wanted.identity_id, wanted.identifier_keys)
    if identities is not None:
        blocks = blocks.filter(identities__in=identities).distinct()
    return blocks.none() if wanted.templates_only else blocks  # there are no templates here


@router.get("/blocks/count", auth=READ, response=int, operation_id="count_blocks")
def count(request: HttpRequest) -> int:
    """How many blocks there are."""
    return lookups.blocks(request).count()


@router.get("/blocks/{block_id}", auth=READ, response=BlockState, operation_id="retrieve_block")
def retrieve(request: HttpRequest, response: HttpResponse, block_id: str) -> Any:
    """A block, with an ETag; 304 if that is the one in If-None-Match."""
    return tagged(request, response, lookups.block(request, block_id))


@router.patch("/blocks/{block_id}", auth=WRITE, response=BlockState, operation_id="modify_block")
def modify(
    request: HttpRequest,
    response: HttpResponse,
    block_id: str,
    data: BlockChange,
    if_match: IfMatch = None,
) -> Any:
    """Change a block, for all who hold it; 409 where If-Match or `version` name another."""
    block = lookups.block(request, block_id)
    change(request, block, data)
    return tagged(request, response, block)


@router.delete("/blocks/{block_id}", auth=WRITE, response=Done, operation_id="delete_block")
def delete(request: HttpRequest, block_id: str) -> dict[str, str]:
    """Delete a block for good; it leaves the agents that hold it first."""
    block = lookups.block(request, block_id)
    mine_only(request, block)
    done = {"message": f"Block id={ids.named('block', block.pk)} successfully deleted"}
    try:
        Block.objects.filter(pk=block.pk).discard(by=editor(request))
    except MemoryRefusal as refusal:
        raise conflict(str(refusal)) from None
    return done


@router.get(
    "/blocks/{block_id}/agents",
    auth=READ,
    response=list[AgentState],
    operation_id="list_agents_of_block",
)
def agents(request: HttpRequest, block_id: str, wanted: Query[Page]) -> list[dict[str, Any]]:
    """The agents that hold a block."""
    from .agents import of_block

    return of_block(request, lookups.block(request, block_id), wanted)


# -- of an agent -----------------------------------------------------------------------------------

MEMORY = "/agents/{agent_id}/core-memory"


@router.get(MEMORY, auth=READ, response=CoreMemory, operation_id="retrieve_core_memory")
def core_memory(request: HttpRequest, agent_id: str) -> dict[str, Any]:
    """An agent's core memory."""
    agent = lookups.agent(request, agent_id)
    return core_memory_state(agent, agent.core_memory())


@router.get(
    f"{MEMORY}/blocks", auth=READ, response=list[BlockState], operation_id="list_core_memory_blocks"
)
def of_agent(request: HttpRequest, agent_id: str, wanted: Query[Page]) -> list[dict[str, Any]]:
    """An agent's blocks, in the order the model sees them."""
    held = lookups.agent(request, agent_id).core_memory()
    return [block_state(block) for block in part_of(held, wanted, block_id)]


@router.get(
    f"{MEMORY}/blocks/{{block_label}}",
    auth=READ,
    response=BlockState,
    operation_id="retrieve_core_memory_block",
)
def by_label(request: HttpRequest, response: HttpResponse, agent_id: str, block_label: str) -> Any:
    """An agent's block, with an ETag; 304 if that is the one in If-None-Match."""
    block = lookups.held_block(lookups.agent(request, agent_id), block_label)
    return tagged(request, response, block)


@router.patch(
    f"{MEMORY}/blocks/{{block_label}}",
    auth=WRITE,
    response=BlockState,
    operation_id="modify_core_memory_block",
)
def modify_by_label(
    request: HttpRequest,
    response: HttpResponse,
    agent_id: str,
    block_label: str,
    data: BlockChange,
    if_match: IfMatch = None,
) -> Any:
    """Change an agent's block; 409 where If-Match or `version` name another."""
    block = lookups.held_block(lookups.agent(request, agent_id), block_label)
    change(request, block, data)
    return tagged(request, response, block)


@router.patch(
    f"{MEMORY}/blocks/attach/{{block_id}}",
    auth=WRITE,
    response=AgentState,
    operation_id="attach_block",
)
def attach_block(request: HttpRequest, agent_id: str, block_id: str) -> dict[str, Any]:
    """Have an agent hold a block."""
    agent = lookups.agent(request, agent_id)
    attach(agent, lookups.block(request, block_id))
    return agent_state(agent)


@router.patch(
    f"{MEMORY}/blocks/detach/{{block_id}}",
    auth=WRITE,
    response=AgentState,
    operation_id="detach_block",
)
def detach_block(request: HttpRequest, agent_id: str, block_id: str) -> dict[str, Any]:
    """Take a block from an agent; the block stays."""
    agent = lookups.agent(request, agent_id)
    agent.detach(lookups.block(request, block_id))
    return agent_state(agent)


# -- verbs -----------------------------------------------------------------------------------------


def made(owner: User, data: NewBlock) -> Block:
    """A block that is neither checked nor stored yet."""
    return Block(
        owner=owner,
        label=data.label,
        value=data.value,
        limit=data.limit or max(DEFAULT_LIMIT, min(2 * len(data.value), 1_000_000)),
        description=data.description or "",
        read_only=data.read_only,
        name=data.name or data.template_name or "",
        tags=data.tags or [],
        metadata=data.metadata or {},
    )


def attach(agent: Agent, block: Block) -> None:
    """Hold a block; 409 where its label is taken, or it is no longer shared."""
    with conflicts():
        agent.attach(block)


def hold_only(agent: Agent, blocks: list[Block]) -> None:
    """Hold just these blocks; 409 as for `attach`."""
    with conflicts():
        agent.hold_only(blocks)


@contextmanager
def conflicts() -> Iterator[None]:
    """409 where a block cannot be held."""
    try:
        yield
    except ValidationError as error:
        raise conflict(error.messages[0]) from None
    except MemoryRefusal as refusal:
        raise conflict(str(refusal)) from None


def editor(request: HttpRequest) -> Editor:
    """The person who asks, as a script writes for them."""
    return Editor.person(lookups.person(request), Editor.API)


def mine_only(request: HttpRequest, block: Block) -> None:
    """403 where a block was only given to the person."""
    if block.owner_id != lookups.person(request).pk:
        raise Refused(403, f"The block '{block.label}' is somebody else's; they can change that.")


def change(request: HttpRequest, block: Block, data: BlockChange) -> None:
    """Change settings, value or both at once; what is null stays as it is."""
    given = data.model_dump(exclude_none=True)
    if "template_name" in given:
        given.setdefault("name", given["template_name"])
    settings = {name: given[name] for name in Block.SETTINGS if name in given}
    if settings:
        mine_only(request, block)
    by = editor(request)
    with transaction.atomic():
        hold_expected(request, block, data.version, by)
        block.configure(value=data.value, by=by, **settings)
