"""Agents: created, listed, changed, deleted and counted."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Query

from agents.memory.classes import BasicBlockMemory
from agents.models import Agent, AgentTag
from agents.tools import rules
from agents.tools.attaching import lock_tools_of

from . import ids, lookups
from .agent_details import AgentDetails, agent_state, details
from .agent_parts import Included, Partial, with_only
from .agent_settings import merged, reflecting, settings_of
from .agent_types import STARTS, base_rules, base_tools, prompt_for
from .auth import READ, WRITE
from .blocks import attach, hold_only, new_block
from .built_in_tools import MULTI_AGENT, built_in_tools
from .content import text_of
from .cursors import Page, page_of
from .errors import invalid
from .identities import identities_named, set_identities
from .json_router import JsonRouter
from .model_choice import check_model
from .schemas.agents import (
    AgentChange,
    AgentSettings,
    AgentState,
    NewAgent,
)
from .schemas.fields import Done, Many, Short
from .schemas.runs import reasons_of

router = JsonRouter(tags=["agents"])
FIRST = ["Amber", "Brisk", "Calm", "Clever", "Gentle", "Keen", "Lucid", "Patient", "Quiet", "Warm"]
SECOND = ["Badger", "Finch", "Heron", "Lynx", "Marten", "Otter", "Plover", "Robin", "Stoat", "Wren"]


class AgentFilters(Page, Included):
    """Which agents to list."""

    name: Short | None = None
    tags: Many | None = None
    match_all_tags: bool = False
    query_text: Short | None = None
    identity_id: Short | None = None
    identifier_keys: Many | None = None
    last_stop_reason: Short | None = None
    show_hidden_agents: bool = False


@router.post("/agents/", auth=WRITE, response=AgentState, operation_id="create_agent")
def create(request: HttpRequest, data: NewAgent) -> AgentState:
    """Create an agent."""
    check_models(data, lookups.person(request).pk)
    with transaction.atomic():
        agent = make(request, data)
    return agent_state(agent)


@router.get("/agents/", auth=READ, response=list[AgentState], operation_id="list_agents")
def index(request: HttpRequest, filters: Query[AgentFilters]) -> Sequence[Partial | AgentDetails]:
    """Agents, the newest first; hidden ones only where they are asked for."""
    agents = filtered(request, filters)
    found = details(page_of(agents, filters, lambda text: ids.uuid_of("agent", text)))
    return with_only(found, filters)


def filtered(request: HttpRequest, filters: AgentFilters) -> QuerySet[Agent]:
    agents = Agent.objects.visible_to(lookups.person(request))
    if not filters.show_hidden_agents:
        agents = agents.listed()
    if filters.name is not None:
        agents = agents.filter(name=filters.name)
    if filters.query_text:
        agents = agents.filter(name__icontains=filters.query_text)
    identities = identities_named(request, filters.identity_id, filters.identifier_keys)
    if identities is not None:
        agents = agents.filter(identities__in=identities).distinct()
    if filters.last_stop_reason is not None:
        agents = agents.ended(reasons_of(filters.last_stop_reason))
    tags = set(filters.tags or [])
    if tags and filters.match_all_tags:
        for tag in tags:
            agents = agents.filter(pk__in=AgentTag.objects.filter(tag=tag).values("agent"))
    elif tags:
        agents = agents.filter(pk__in=AgentTag.objects.filter(tag__in=tags).values("agent"))
    return agents


@router.get(
    "/blocks/{block_id}/agents",
    auth=READ,
    response=list[AgentState],
    operation_id="list_agents_of_block",
)
def of_block(
    request: HttpRequest, block_id: str, page: Query[Page], shown: Query[Included]
) -> Sequence[Partial | AgentDetails]:
    """The agents that hold a block."""
    agents = Agent.objects.visible_to(lookups.person(request))
    agents = agents.filter(attachments__block=lookups.block(request, block_id))
    found = details(page_of(agents, page, lambda text: ids.uuid_of("agent", text)))
    return with_only(found, shown)


@router.get("/agents/count", auth=READ, response=int, operation_id="count_agents")
def count(request: HttpRequest, show_hidden_agents: Query[bool] = False) -> int:
    """How many agents there are; hidden ones only where they are asked for."""
    agents = Agent.objects.visible_to(lookups.person(request))
    return (agents if show_hidden_agents else agents.listed()).count()


@router.get("/agents/{agent_id}", auth=READ, response=AgentState, operation_id="retrieve_agent")
def retrieve(request: HttpRequest, agent_id: str, shown: Query[Included]) -> Partial | AgentDetails:
    """An agent."""
    return with_only(details([lookups.agent(request, agent_id)]), shown)[0]


@router.patch("/agents/{agent_id}", auth=WRITE, response=AgentState, operation_id="modify_agent")
def modify(request: HttpRequest, agent_id: str, data: AgentChange) -> AgentState:
    """Change an agent. `tool_ids`, `block_ids` and `identity_ids` replace all that it has."""
    model, before = settings_of(data).get("model", ""), lookups.agent(request, agent_id)
    if model != before.model or data.compaction_settings:
        check_models(data, before.owner_id)
    with transaction.atomic():
        agent = lookups.agent(request, agent_id)
        if data.tool_ids is not None:
            lock_tools_of(agent.owner)
        if data.block_ids is not None:
            hold_only(agent, [lookups.block(request, each) for each in data.block_ids])
        agent, changes = agent.locked(), settings_of(data)
        if "model_settings" in changes:
            changes["model_settings"] = merged(agent.model_settings, changes["model_settings"])
        if data.tool_ids is not None:
            changes["tools"] = named_tools(request, [], data.tool_ids)
        if data.tool_rules is not None or "tools" in changes:
            new_rules = agent.tool_rules if data.tool_rules is None else data.tool_rules
            held = changes.get("tools", agent.tools)
            checked = checked_rules(new_rules, held, strict=data.tool_rules is not None)
            changes["tool_rules"] = rules.replaced(
                [rule for rule in agent.tool_rules if rule["tool_name"] in held], checked
            )
        changes |= reflecting(data, agent.reflect_every)
        validate(agent, changes)
        agent.configure(**changes)
        if data.identity_ids is not None:
            set_identities(request, agent, data.identity_ids)
        if data.tags is not None:
            AgentTag.replace(agent, data.tags)
    return agent_state(lookups.agent(request, agent_id))


@router.delete("/agents/{agent_id}", auth=WRITE, response=Done, operation_id="delete_agent")
def delete(request: HttpRequest, agent_id: str) -> dict[str, str]:
    """Delete an agent; for 30 days it can be restored in the page."""
    agent = lookups.agent(request, agent_id)
    agent.trash()
    return {"message": f"Agent id={ids.named('agent', agent.pk)} successfully deleted"}


# -- creating one ----------------------------------------------------------------------------------


def make(request: HttpRequest, data: NewAgent) -> Agent:
    """The new agent, with its blocks and its first messages."""
    owner = lookups.person(request)
    kind, rules_wanted = data.agent_type, data.include_base_tool_rules
    base = base_tools(kind, reflects=bool(data.enable_sleeptime))
    names = [*(base if data.include_base_tools else []), *(data.tools or [])]
    if data.include_multi_agent_tools:
        names += [name for name, tool in built_in_tools().items() if tool.tool_type == MULTI_AGENT]
    tools = named_tools(request, names, data.tool_ids or [])
    settings = {"system_prompt": prompt_for(kind, tools)} | settings_of(data)
    settings |= {"agent_type": kind or "", **reflecting(data, None)}
    settings["model_settings"] = merged({}, settings.get("model_settings", {}))
    if STARTS[kind].forgets:
        settings["message_buffer_autoclear"] = True
    given = checked_rules(data.tool_rules or [], tools, strict=True)
    settings["tool_rules"] = [*given, *base_rules(kind, tools, given, rules_wanted)]
    name = settings.pop("name", "") or f"{random.choice(FIRST)}{random.choice(SECOND)}"
    blocks = [new_block(owner, block) for block in data.memory_blocks or []]
    refuse_equal_labels([block.label for block in blocks])
    validate(Agent(owner=owner), settings | {"name": name})
    memory = BasicBlockMemory(blocks)
    agent = Agent.create(owner, name, memory, tools=tools, **settings)
    for block_id in data.block_ids or []:
        attach(agent, lookups.block(request, block_id))
    if data.identity_ids:
        set_identities(request, agent, data.identity_ids)
    if data.tags:
        AgentTag.replace(agent, data.tags)
    add_first_messages(agent, data)
    return agent


def refuse_equal_labels(labels: list[str]) -> None:
    if label := next((label for label in labels if labels.count(label) > 1), None):
        words = f"Two blocks have the label '{label}'; give each block a label of its own."
        raise invalid("memory_blocks", words)


def check_models(data: AgentSettings, owner: int) -> None:
    """422 where one of the models that a request names may not be the agent's, by its owner."""
    check_model(settings_of(data).get("model", ""), owner)
    if data.compaction_settings and data.compaction_settings.model:
        check_model(data.compaction_settings.model, owner, "compaction_settings")


def validate(agent: Agent, changes: dict[str, Any]) -> None:
    """ValidationError where a field cannot have its new value."""
    for field, value in changes.items():
        setattr(agent, field, value)
    names = {field.name for field in Agent._meta.fields}
    agent.clean_fields(exclude=names - changes.keys() | {"metadata", "tools", "tool_rules"})


def named_tools(request: HttpRequest, names: list[str], tool_ids: list[str]) -> list[str]:
    """The names of tools that are named or referred to by id, each once; 422 for an unknown one."""
    built_in = built_in_tools()
    found = dict.fromkeys(name for name in names if name in built_in)
    if others := [name for name in names if name not in built_in]:
        own = set(lookups.tools(request).filter(name__in=others).values_list("name", flat=True))
        if missing := next((name for name in others if name not in own), None):
            raise invalid("tools", f"There is no tool '{missing}'; see GET /v1/tools/.")
        found |= dict.fromkeys(others)
    for tool_id in tool_ids:
        found[lookups.tool_name(request, tool_id)] = None
    return list(found)


def checked_rules(given: list[Any], tools: list[str], *, strict: bool) -> list[Any]:
    """Rules as they are stored.

    422 where one is wrong; if not `strict`, rules for tools that the agent no longer has are
    dropped instead.
    """
    kept = [{name: each for name, each in rule.items() if each is not None} for rule in given]
    if strict:
        if wrong := rules.problem(kept, tools):
            raise invalid("tool_rules", wrong)
        return kept
    return [rule for rule in kept if not rules.problem([rule], tools)]


def add_first_messages(agent: Agent, data: NewAgent) -> None:
    """Store the messages that the agent starts with, as a run that has ended."""
    messages = data.initial_message_sequence
    if not messages:
        return
    try:
        texts = [(each.role, text_of(each.content)) for each in messages]
        agent.first_conversation.post_first_messages(texts)
    except ValidationError as error:
        raise invalid("initial_message_sequence", error.messages[0]) from None
