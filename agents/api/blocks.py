"""Blocks: by id, and by label in the agent that holds them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from ninja import Header, Query

from agents.models import Agent, Block, Editor, MemoryRefusal
from agents.models.block_checks import may_be_configured_by

from . import ids, lookups
from .agent_details import agent_state, core_memory_state
from .auth import READ, WRITE
from .cursors import Page, page_of, part_of
from .errors import Refused, conflict
from .identities import identities_named
from .json_router import JsonRouter
from .schemas.agents import AgentState
from .schemas.blocks import BlockChange, BlockState, CoreMemory, NewBlock
from .schemas.fields import Done, Many, Short
from .versions import lock_expected, tagged

router = JsonRouter(tags=["blocks"])
IfMatch = Annotated[str | None, Header(alias="If-Match")]
DEFAULT_LIMIT = 5000  # characters, where a script names no limit


class BlockFilters(Page):
    """Which blocks to list."""

    label: Short | None = None
    name: Short | None = None
    label_search: Short | None = None
    value_search: Short | None = None
    description_search: Short | None = None
    identity_id: Short | None = None
    identifier_keys: Many | None = None
    templates_only: bool = False


# -- by id -----------------------------------------------------------------------------------------


@router.post("/blocks/", auth=WRITE, response=BlockState, operation_id="create_block")
def create(request: HttpRequest, data: NewBlock) -> Block:
    """Create a block, which can then be attached to agents."""
    block = new_block(lookups.person(request), data)
    block.full_clean(exclude=["owner"])
    block.save(force_insert=True)
    return block


@router.get("/blocks/", auth=READ, response=list[BlockState], operation_id="list_blocks")
def index(request: HttpRequest, filters: Query[BlockFilters]) -> list[Block]:
    """Blocks, the newest first."""
    return page_of(filtered(request, filters), filters, lambda text: ids.uuid_of("block", text))


def filtered(request: HttpRequest, filters: BlockFilters) -> QuerySet[Block]:
    exact = {"label": filters.label, "name": filters.name}
    parts = {
        "label__icontains": filters.label_search,
        "value__icontains": filters.value_search,
        "description__icontains": filters.description_search,
    }
    terms = {name: value for name, value in (exact | parts).items() if value is not None}
    blocks = lookups.blocks(request).filter(**terms)
    identities = identities_named(request, filters.identity_id, filters.identifier_keys)
    if identities is not None:
        blocks = blocks.filter(identities__in=identities).distinct()
    return blocks.none() if filters.templates_only else blocks  # there are no templates here


@router.get("/blocks/count", auth=READ, response=int, operation_id="count_blocks")
def count(request: HttpRequest) -> int:
    """How many blocks there are."""
    return lookups.blocks(request).count()


@router.get("/blocks/{block_id}", auth=READ, response=BlockState, operation_id="retrieve_block")
def retrieve(request: HttpRequest, block_id: str) -> HttpResponse:
    """A block, with an ETag; 304 if that is the one in If-None-Match."""
    return tagged(request, lookups.block(request, block_id))


@router.patch("/blocks/{block_id}", auth=WRITE, response=BlockState, operation_id="modify_block")
def modify(
    request: HttpRequest, block_id: str, data: BlockChange, if_match: IfMatch = None
) -> HttpResponse:
    """Change a block for all its agents; 409 if `If-Match` or `version` is not current."""
    block = lookups.block(request, block_id)
    change(request, block, data)
    return tagged(request, block)


@router.delete("/blocks/{block_id}", auth=WRITE, response=Done, operation_id="delete_block")
def delete(request: HttpRequest, block_id: str) -> dict[str, str]:
    """Delete a block permanently; it is detached from the agents that hold it."""
    block = lookups.block(request, block_id)
    check_owner(request, block)
    done = {"message": f"Block id={ids.named('block', block.pk)} successfully deleted"}
    try:
        Block.objects.filter(pk=block.pk).discard(by=editor(request))
    except MemoryRefusal as refusal:
        raise conflict(str(refusal)) from None
    return done


# -- of an agent -----------------------------------------------------------------------------------

MEMORY = "/agents/{agent_id}/core-memory"


@router.get(MEMORY, auth=READ, response=CoreMemory, operation_id="retrieve_core_memory")
def core_memory(request: HttpRequest, agent_id: str) -> CoreMemory:
    """An agent's core memory."""
    agent = lookups.agent(request, agent_id)
    return core_memory_state(agent, agent.core_memory())


@router.get(
    f"{MEMORY}/blocks", auth=READ, response=list[BlockState], operation_id="list_core_memory_blocks"
)
def of_agent(request: HttpRequest, agent_id: str, page: Query[Page]) -> list[Block]:
    """An agent's blocks, in the order the model sees them."""
    held = lookups.agent(request, agent_id).core_memory()
    return part_of(held, page, lambda block: ids.named("block", block.pk))


@router.get(
    f"{MEMORY}/blocks/{{block_label}}",
    auth=READ,
    response=BlockState,
    operation_id="retrieve_core_memory_block",
)
def by_label(request: HttpRequest, agent_id: str, block_label: str) -> HttpResponse:
    """An agent's block, with an ETag; 304 if that is the one in If-None-Match."""
    block = lookups.held_block(lookups.agent(request, agent_id), block_label)
    return tagged(request, block)


@router.patch(
    f"{MEMORY}/blocks/{{block_label}}",
    auth=WRITE,
    response=BlockState,
    operation_id="modify_core_memory_block",
)
def modify_by_label(
    request: HttpRequest,
    agent_id: str,
    block_label: str,
    data: BlockChange,
    if_match: IfMatch = None,
) -> HttpResponse:
    """Change an agent's block; 409 if `If-Match` or `version` is not current."""
    block = lookups.held_block(lookups.agent(request, agent_id), block_label)
    change(request, block, data)
    return tagged(request, block)


@router.patch(
    f"{MEMORY}/blocks/attach/{{block_id}}",
    auth=WRITE,
    response=AgentState,
    operation_id="attach_block",
)
def attach_block(request: HttpRequest, agent_id: str, block_id: str) -> AgentState:
    """Attach a block to an agent."""
    agent = lookups.agent(request, agent_id)
    attach(agent, lookups.block(request, block_id))
    return agent_state(agent)


@router.patch(
    f"{MEMORY}/blocks/detach/{{block_id}}",
    auth=WRITE,
    response=AgentState,
    operation_id="detach_block",
)
def detach_block(request: HttpRequest, agent_id: str, block_id: str) -> AgentState:
    """Detach a block from an agent; the block itself is kept."""
    agent = lookups.agent(request, agent_id)
    agent.detach(lookups.block(request, block_id))
    return agent_state(agent)


# -- verbs -----------------------------------------------------------------------------------------


def new_block(owner: User, data: NewBlock) -> Block:
    """A block that is not checked or stored yet."""
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
    """Attach a block; 409 if its label is taken or it is no longer shared."""
    with conflicts():
        agent.attach(block)


def hold_only(agent: Agent, blocks: list[Block]) -> None:
    """Attach these blocks and no others; 409 as for `attach`."""
    with conflicts():
        agent.hold_only(blocks)


@contextmanager
def conflicts() -> Iterator[None]:
    """409 where a block cannot be attached."""
    try:
        yield
    except ValidationError as error:
        raise conflict(error.messages[0]) from None
    except MemoryRefusal as refusal:
        raise conflict(str(refusal)) from None


def editor(request: HttpRequest) -> Editor:
    """The person who asks, as the author of edits through the API."""
    return Editor.person(lookups.person(request), Editor.API)


def check_owner(request: HttpRequest, block: Block) -> None:
    """403 where the block belongs to another person, who shared it."""
    if block.owner_id != lookups.person(request).pk:
        words = f"The block '{block.label}' belongs to another person; only they can do this."
        raise Refused(403, words)


def change(request: HttpRequest, block: Block, data: BlockChange) -> None:
    """Change settings, value or both at once; null leaves a field as it is."""
    changes = data.model_dump(exclude_none=True)
    if "template_name" in changes:
        changes.setdefault("name", changes["template_name"])
    settings = {name: changes[name] for name in Block.SETTINGS if name in changes}
    if settings and not may_be_configured_by(block, lookups.person(request).pk):
        check_owner(request, block)
    by = editor(request)
    with transaction.atomic():
        lock_expected(request, block, data.version, by)
        block.configure(value=data.value, by=by, **settings)
