"""Tools that users write, for tests."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User

from agents.models import Agent, Tool
from agents.tools.custom import CustomTool, Prepared, from_row

PUSH = '''
def push(agent_state: "AgentState", task: str):
    """
    Put a task into the queue.

    Args:
        task (str): What there is to do.

    Returns:
        Optional[str]: None, always.
    """
    import json
    queue = json.loads(agent_state.memory.get_block("tasks").value)
    queue.append(task)
    agent_state.memory.update_block_value("tasks", json.dumps(queue))
    return None
'''
POP = '''
def pop(agent_state: "AgentState"):
    """Take the next task."""
    import json
    queue = json.loads(agent_state.memory.get_block("tasks").value)
    if not queue:
        return None
    print("QUEUE:", queue)
    agent_state.memory.update_block_value("tasks", json.dumps(queue[1:]))
    return queue[0]
'''
PUSH_BY_CLIENT = '''
def push(agent_state: "AgentState", task: str):
    """Put a task into the queue.

    Args:
        task (str): What there is to do.
    """
    from letta_client import Letta
    import json

    client = Letta(base_url="http://127.0.0.1:1")
    block = client.agents.blocks.retrieve(
        agent_id=agent_state.id,
        block_label="tasks",
    )
    queue = json.loads(block.value)
    queue.append(task)
    client.agents.blocks.modify(
        agent_id=agent_state.id,
        value=json.dumps(queue),
        block_label="tasks"
    )
    return None
'''
MODELS = '''
from pydantic import BaseModel, Field
from dataclasses import dataclass

@dataclass
class Place:
    city: str
    country: str = "Latvia"

class Stop(BaseModel):
    """A stop.

    Attributes:
        nights: How long.
    """
    place: Place
    nights: int = Field(1, ge=1, le=30)
    wishes: List[str] = Field(default_factory=list, description="What to see.")
'''


def tool(owner: User, body: str, signature: str = "agent_state", **settings: Any) -> CustomTool:
    """A tool with these lines as its body."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    described = "".join(
        f"\n        {name.split(':')[0].strip()}: what it is"
        for name in signature.split(", ")
        if ":" in name
    )
    args = f"\n\n    Args:{described}\n    " if described else ""
    source = f'def probe({signature}):\n    """Try something.{args}"""\n{lines}\n'
    return from_row(Tool.from_source(owner, source, **settings))


def tried(agent: Agent, body: str, **settings: Any) -> Prepared:
    return tool(agent.owner, body, **settings).prepare(agent, {})


def value(agent: Agent, label: str) -> str:
    block = agent.block(label)
    assert block is not None
    return block.value
