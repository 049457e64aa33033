"""An agent with all that belongs to it, which is what `AgentState` is read from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from agents import tools as agent_tools
from agents.llm import ModelError, resolve
from agents.llm.windows import window_of
from agents.memory.classes import template_of
from agents.models import Agent, AgentTag, Block, Conversation, Identity, Run, Tool
from agents.models.core_memories import core_memories
from agents.models.message_context import keys_in_context
from agents.models.run import REQUIRES_APPROVAL
from agents.models.secrets import UNREADABLE
from agents.tools.rules import on_the_wire

from . import ids
from .built_in_tools import built_in_tools, fixed_names
from .messages_out import ApiMessage, pending_request
from .schemas.agents import AgentState
from .schemas.blocks import BlockState, CoreMemory
from .schemas.fields import Json
from .schemas.identities import IdentityState
from .schemas.model_settings import on_the_wire as on_letta_wire
from .schemas.runs import stop_word
from .schemas.tools import ToolState

MEMGPT, PLAIN = "memgpt_v2_agent", "letta_v1_agent"
MASK = "********"
MOST_MESSAGES = 1000  # ids of messages shown with an agent, the newest
EMBEDDING_DIM = 1536  # what clients expect where nothing is known


class AgentDetails:
    """An agent and what belongs to it; what is not here is the agent's own."""

    def __init__(
        self,
        agent: Agent,
        conversation: Conversation,
        blocks: Sequence[Block],
        own_tools: dict[str, Tool],
        tags: list[str],
        identities: list[IdentityState],
    ) -> None:
        self.agent, self.tags, self.identities = agent, tags, identities
        self.memory = core_memory_state(agent, blocks)
        self.blocks = self.memory.blocks
        self.tools = tool_states(agent, own_tools)
        self.identity_ids = [identity.id for identity in identities]
        self.conversation = conversation
        self.last_run_completion, reason = conversation.last_end()
        self.last_stop_reason = stop_word(reason)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.agent, name)

    @property
    def agent_type(self) -> str:
        style = MEMGPT if agent_tools.speaks_by_tool(self.agent) else PLAIN
        return self.agent.agent_type or style

    @property
    def message_ids(self) -> list[str]:
        """The messages in the context: the system message, then the oldest first."""
        keys = keys_in_context(self.conversation, MOST_MESSAGES)
        return [
            ids.system_message(self.agent.pk),
            *(ids.numbered("message", key) for key in keys),
        ]

    @property
    def pending_approval(self) -> ApiMessage | None:
        """The request for approval that it waits for."""
        if self.last_stop_reason != REQUIRES_APPROVAL:
            return None
        run = Run.objects.waiting_for_approval(self.conversation)
        return pending_request(run) if run else None

    @property
    def tool_rules(self) -> list[Json]:
        """The agent's rules, with one for each tool that needs approval by its own setting."""
        asking = [tool.name for tool in self.tools if tool.default_requires_approval]
        shown = on_the_wire(self.agent.tool_rules, asking)
        return [{"prompt_template": None, **rule} for rule in shown]

    @property
    def enable_sleeptime(self) -> bool:
        """Whether it reflects by itself."""
        return self.agent.reflect_every is not None

    @property
    def secrets(self) -> list[Json]:
        """The names of its secrets; their values are shown to nobody."""
        common = {"agent_id": ids.named("agent", self.agent.pk), "value": MASK}
        return [
            {**common, "key": each.name, "description": None if each.is_readable else UNREADABLE}
            for each in self.agent.shown_secrets()
        ]

    @property
    def tool_exec_environment_variables(self) -> list[Json]:
        return self.secrets

    @property
    def model_settings(self) -> Json:
        """How the model is asked, as Letta's clients read it."""
        return on_letta_wire(self.agent.model_settings)

    @property
    def response_format(self) -> Json | None:
        found: Json | None = self.agent.model_settings.get("response_format")
        return found

    @property
    def llm_config(self) -> Json:
        """Which model answers, and how it is asked."""
        asked = dict(self.agent.model_settings)
        if "max_output_tokens" in asked:
            asked["max_tokens"] = asked.pop("max_output_tokens")
        return self.model_named | asked

    @property
    def model_named(self) -> Json:
        """Which model answers, by what is known without asking its endpoint."""
        agent = self.agent
        try:
            endpoint, model = resolve(agent.model, agent.owner_id, ask=False)
        except ModelError:  # the endpoint names no model at present
            return {
                "handle": agent.model,
                "model": agent.model.rpartition("/")[2],
                "model_endpoint_type": "openai",
                "context_window": agent.context_window or 32_000,
            }
        window = agent.context_window or window_of(endpoint, model, ask=False)
        return {
            "handle": agent.model or f"{endpoint.name}/{model}",
            "model": model,
            "model_endpoint_type": "openai",
            "model_endpoint": None if endpoint.is_demo else endpoint.base_url,
            "provider_name": endpoint.name,
            "context_window": window,
            "put_inner_thoughts_in_kwargs": False,
        }

    @property
    def embedding_config(self) -> Json:
        handle = self.agent.embedding
        return {
            "handle": handle or None,
            "embedding_model": handle.rpartition("/")[2],
            "embedding_endpoint_type": "openai",
            "embedding_endpoint": None,
            "embedding_dim": EMBEDDING_DIM,
            "embedding_chunk_size": 300,
        }


def details(agents: Sequence[Agent]) -> list[AgentDetails]:
    """Agents with what belongs to them, read with one query for each kind of thing, and one for the
    tools of each owner."""
    if not agents:
        return []
    names = {name for agent in agents for name in agent.tools} - fixed_names()
    own = {owner: own_tools(owner, names) for owner in {agent.owner_id for agent in agents}}
    blocks, tags = core_memories(agents), AgentTag.of(agents)
    identities, first = identities_of(agents), Conversation.firsts_of(agents)
    return [
        AgentDetails(
            agent,
            first[agent.pk],
            blocks[agent.pk],
            own[agent.owner_id],
            tags[agent.pk],
            identities[agent.pk],
        )
        for agent in agents
    ]


def agent_state(agent: Agent) -> AgentState:
    """An agent with what belongs to it."""
    return AgentState.model_validate(details([agent])[0])


def core_memory_state(agent: Agent, blocks: Sequence[Block]) -> CoreMemory:
    return CoreMemory(
        blocks=[BlockState.model_validate(block) for block in blocks],
        prompt_template=template_of(agent.prompt_template, agent.memory_class),
    )


def own_tools(owner_id: int, names: Collection[str]) -> dict[str, Tool]:
    """A person's own tools of these names, by name."""
    if not names:
        return {}
    return {row.name: row for row in Tool.objects.filter(owner_id=owner_id, name__in=names)}


def tool_states(agent: Agent, own: dict[str, Tool]) -> list[ToolState]:
    """The agent's tools in its order; `own` are its owner's."""
    built_in = built_in_tools()
    own = {name: row for name, row in own.items() if name not in fixed_names()}
    return [
        ToolState.model_validate(own[name]) if name in own else built_in[name]
        for name in dict.fromkeys(agent.tools)
        if name in built_in or name in own
    ]


# -- identities ------------------------------------------------------------------------------------


def identity_states(identities: Sequence[Identity]) -> list[IdentityState]:
    """One owner's identities, with the ids of their agents and blocks."""
    if not identities:
        return []
    agents: defaultdict[UUID, list[str]] = defaultdict(list)
    blocks: defaultdict[UUID, list[str]] = defaultdict(list)
    held = Identity.agents.through.objects.filter(identity__in=identities, agent__deleted_at=None)
    for pk, agent in held.order_by("agent__created_at").values_list("identity", "agent"):
        agents[pk].append(ids.named("agent", agent))
    usable = Block.objects.usable_by(identities[0].owner)
    kept = Identity.blocks.through.objects.filter(identity__in=identities, block__in=usable)
    for pk, block in kept.order_by("block__created_at").values_list("identity", "block"):
        blocks[pk].append(ids.named("block", block))
    return [
        IdentityState.model_validate(identity).model_copy(
            update={"agent_ids": agents[identity.pk], "block_ids": blocks[identity.pk]}
        )
        for identity in identities
    ]


def identities_of(agents: Sequence[Agent]) -> dict[UUID, list[IdentityState]]:
    """The identities of agents, by the agent's key."""
    by_agent = Identity.of(agents)
    identities = {each.pk: each for found in by_agent.values() for each in found}
    states = dict(zip(identities, identity_states(list(identities.values())), strict=True))
    return {pk: [states[each.pk] for each in found] for pk, found in by_agent.items()}
