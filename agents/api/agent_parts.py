"""Which parts of agents an answer has: those that a request names, or all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from .agent_details import AgentDetails
from .errors import invalid
from .schemas.fields import Many

# In Letta's words, of older SDKs without the prefix `agent.`: the fields, and what stands for none.
PARTS: dict[str, dict[str, Any]] = {
    "blocks": {"blocks": []},
    "tools": {"tools": []},
    "tags": {"tags": []},
    "identities": {"identities": [], "identity_ids": []},
    "secrets": {"secrets": [], "tool_exec_environment_variables": []},
    "pending_approval": {"pending_approval": None},
    "sources": {},
    "managed_group": {},
}
OLDER = {
    "memory": "blocks",
    "identity_ids": "identities",
    "tool_exec_environment_variables": "secrets",
    "multi_agent_group": "managed_group",
}


class Included(BaseModel):
    """Which parts of agents to answer with: `include`, or `include_relationships` from older SDKs.

    Without either, all. What an agent has of others is left empty.
    """

    include: Many | None = None
    include_relationships: Many | None = None

    def parts(self) -> set[str] | None:
        """The names of parts; None for all. 422 for a name that there is not."""
        field = "include" if self.include is not None else "include_relationships"
        named = self.include if self.include is not None else self.include_relationships
        if named is None:
            return None
        found = {OLDER.get(name, name) for name in (each.removeprefix("agent.") for each in named)}
        if unknown := found - PARTS.keys():
            words = f"There is no part '{min(unknown)}'; there are {', '.join(PARTS)}."
            raise invalid(field, words)
        return found


class Partial:
    """An agent with some of its parts left empty."""

    def __init__(self, whole: AgentDetails, empty: dict[str, Any]) -> None:
        self.whole = whole
        self.__dict__.update(empty)
        if "blocks" in empty:
            self.memory = whole.memory.model_copy(update={"blocks": []})

    def __getattr__(self, name: str) -> Any:
        return getattr(self.whole, name)


def with_only(agents: Sequence[AgentDetails], shown: Included) -> Sequence[AgentDetails | Partial]:
    """The agents, without the parts that a request leaves out."""
    parts = shown.parts()
    if parts is None:
        return agents
    empty = {name: value for each in PARTS.keys() - parts for name, value in PARTS[each].items()}
    return [Partial(agent, empty) for agent in agents]
