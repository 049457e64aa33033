"""Letta's client as code in the sandbox sees it: `agent_state` and the module `letta_client`.

Both generations of the SDK's spelling are understood (0.1.x and 1.x). Whatever address and key a
tool gives `Letta(...)`, it reaches the memory of the agent that called it, and nothing else.
Public fields and methods of these classes are what code in the sandbox can see and call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, is_dataclass
from functools import cache
from types import FunctionType
from typing import Any
from uuid import UUID

from agents.models import Block

from .passages import Passages
from .staged import StagedMemory


@dataclass
class BlockState:
    """A block as it was when it was asked for."""

    id: str
    label: str
    value: str
    limit: int
    description: str
    read_only: bool

    @classmethod
    def _of(cls, block: Block) -> BlockState:
        return cls(
            f"block-{block.pk}",
            block.label,
            block.value,
            block.limit,
            block.description,
            block.read_only,
        )


BlockStates = list[BlockState]  # `list` is a method's name below


@dataclass
class MemoryState:
    """`agent_state.memory`."""

    _staged: StagedMemory

    @property
    def blocks(self) -> list[BlockState]:
        return [BlockState._of(block) for block in self._staged.all()]

    @property
    def prompt_template(self) -> str:
        return self._staged.template()

    def list_block_labels(self) -> list[str]:
        return [block.label for block in self._staged.all()]

    def get_blocks(self) -> list[BlockState]:
        return self.blocks

    def get_block(self, label: str) -> BlockState:
        return BlockState._of(self._staged.block(label))

    def update_block_value(self, label: str, value: str) -> None:
        self._staged.write(label, value)

    def get_prompt_template(self) -> str:
        return self.prompt_template

    def compile(self) -> str:
        return self._staged.compile()


@dataclass
class AgentState:
    """`agent_state`."""

    id: str
    name: str
    system: str
    tools: list[str]
    memory: MemoryState

    @classmethod
    def _of(cls, staged: StagedMemory) -> AgentState:
        agent = staged.agent
        tools = list(agent.tools)
        return cls(f"agent-{agent.pk}", agent.name, agent.system_prompt, tools, MemoryState(staged))

    @property
    def blocks(self) -> list[BlockState]:
        return self.memory.blocks


@dataclass
class AgentBlocks:
    """`client.agents.blocks`."""

    _staged: StagedMemory

    def retrieve(self, *names: str, agent_id: str = "", block_label: str = "") -> BlockState:
        return BlockState._of(self._staged.block(self._label(names, agent_id, block_label)))

    def list(self, agent_id: str) -> BlockStates:
        own(self._staged, agent_id)
        return [BlockState._of(block) for block in self._staged.all()]

    def modify(
        self, *names: str, value: str, agent_id: str = "", block_label: str = ""
    ) -> BlockState:
        label = self._label(names, agent_id, block_label)
        return BlockState._of(self._staged.write(label, value))

    update = modify

    def _label(self, positional: tuple[str, ...], agent_id: str, block_label: str) -> str:
        """The label of a call; given by place, the agent comes first unless it has its name."""
        names = [*positional]
        agent = agent_id or (names.pop(0) if names else "")
        label = block_label or (names.pop(0) if names else "")
        if names or not agent or not label:
            raise TypeError("give an agent_id and a block_label")
        own(self._staged, agent)
        return label


@dataclass
class CoreMemory:
    """`client.agents.core_memory`, the older spelling of `client.agents.blocks`."""

    _staged: StagedMemory

    def retrieve(self, agent_id: str) -> MemoryState:
        own(self._staged, agent_id)
        return MemoryState(self._staged)

    def list_blocks(self, agent_id: str) -> BlockStates:
        return AgentBlocks(self._staged).list(agent_id)

    def retrieve_block(self, agent_id: str, block_label: str) -> BlockState:
        return AgentBlocks(self._staged).retrieve(agent_id, block_label)

    def modify_block(self, agent_id: str, block_label: str, value: str) -> BlockState:
        return AgentBlocks(self._staged).modify(agent_id, block_label, value=value)


@dataclass
class Blocks:
    """`client.blocks`: by id, those that the agent holds."""

    _staged: StagedMemory

    def retrieve(self, block_id: str) -> BlockState:
        return BlockState._of(self._staged.block(self._label(block_id)))

    def list(self, label: str = "") -> BlockStates:
        blocks = [BlockState._of(block) for block in self._staged.all()]
        return [block for block in blocks if label in ("", block.label)]

    def modify(self, block_id: str, value: str) -> BlockState:
        return BlockState._of(self._staged.write(self._label(block_id), value))

    update = modify

    def _label(self, block_id: str) -> str:
        for block in self._staged.blocks.values():
            if same(block_id, block.pk):
                return block.label
        raise LookupError(f"This agent has no block {block_id}.")


@dataclass
class Agents:
    """`client.agents`."""

    blocks: AgentBlocks
    core_memory: CoreMemory
    passages: Passages
    archival_memory: Passages
    _staged: StagedMemory = field(repr=False)

    def retrieve(self, agent_id: str) -> AgentState:
        own(self._staged, agent_id)
        return AgentState._of(self._staged)


@dataclass
class Letta:
    """`letta_client.Letta`, connected to one agent's memory."""

    agents: Agents
    blocks: Blocks


def client_of(staged: StagedMemory) -> Callable[..., Any]:
    """What `Letta(...)` calls: address and key are taken, and not used."""
    passages = Passages(staged, own)

    def connect(*_: Any, **__: Any) -> Any:
        agents = Agents(AgentBlocks(staged), CoreMemory(staged), passages, passages, staged)
        return exposed(Letta(agents, Blocks(staged)))

    return connect


def own(staged: StagedMemory, agent_id: str) -> None:
    """LookupError for any agent but the one that called."""
    if not same(agent_id, staged.agent.pk):
        raise LookupError(
            f"There is no agent {agent_id} here; a tool reaches only the agent that called it,"
            f" agent-{staged.agent.pk}."
        )


def same(value: str, pk: UUID) -> bool:
    """Whether an id, with its prefix or without, is that of a row."""
    return str(value).partition("-")[2] == str(pk) or str(value) == str(pk)


def exposed(value: Any) -> Any:
    """A value as it goes into the sandbox: public fields and methods of the classes above."""
    if isinstance(value, list):
        return [exposed(each) for each in value]
    if not is_dataclass(value) or isinstance(value, type):
        return value
    return _wrapper()(
        value,
        eager_attrs="all",
        lazy_attrs=_public(type(value), property),
        allowed_methods=_public(type(value), FunctionType),
    )


def _public(of: type, kind: type) -> list[str]:
    return [n for n, each in vars(of).items() if isinstance(each, kind) and not n.startswith("_")]


@cache
def _wrapper() -> Any:
    """The class that carries a value of ours into the sandbox, and what its methods return."""
    # 13 MB, which only a process that runs custom tools needs
    from pydantic_monty import ClassInstance  # noqa: PLC0415

    class Exposed(ClassInstance):
        def convert_value(self, /, name: str, value: Any) -> Any:
            return exposed(value)

    return Exposed
