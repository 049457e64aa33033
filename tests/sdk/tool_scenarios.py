"""What notebooks do with tools of their own, played by the interpreter of one SDK version."""

from __future__ import annotations

import json
from typing import Any

from letta_client import Letta

from tests.sdk.any_version import as_printed, block_of, items, stream, upsert, usage_of, user


def get_agent_id(agent_state: "AgentState"):  # type: ignore[name-defined]  # noqa: F821, UP037
    """
    Query your agent ID field
    """
    return agent_state.id


def agent_state_in_a_tool(client: Letta) -> Any:
    """A tool that reads `agent_state.id`, as a stream."""
    tool = upsert(client, get_agent_id)
    made = client.agents.create(memory_blocks=[], model="openai/gpt-4o-mini", tool_ids=[tool.id])
    chunks = stream(client, made.id, "What is your agent id?")
    return {
        "id": made.id,
        "schema": tool.json_schema["parameters"]["properties"],
        "chunks": [as_printed(chunk) for chunk in chunks],
        "usage": usage_of(chunks[-1]),
    }


def task_queue_push(agent_state: "AgentState", task_description: str):  # type: ignore[name-defined]  # noqa: F821, UP037
    """
    Push to a task queue stored in core memory.

    Args:
        task_description (str): A description of the next task you must accomplish.

    Returns:
        Optional[str]: None is always returned as this function
        does not produce a response.
    """
    import json

    tasks = json.loads(agent_state.memory.get_block("tasks").value)
    tasks.append(task_description)
    agent_state.memory.update_block_value("tasks", json.dumps(tasks))
    return None


def task_queue_pop(agent_state: "AgentState"):  # type: ignore[name-defined]  # noqa: F821, UP037
    """
    Get the next task from the task queue

    Returns:
        Optional[str]: The description of the task popped from the
        queue, if there are still tasks in queue. Otherwise, returns
        None (the task queue is empty)
    """
    import json

    tasks = json.loads(agent_state.memory.get_block("tasks").value)
    if len(tasks) == 0:
        return None
    task = tasks[0]
    print("CURRENT TASKS: ", tasks)
    agent_state.memory.update_block_value("tasks", json.dumps(tasks[1:]))
    return task


PUSH_BY_CLIENT = '''
def task_queue_push(agent_state: "AgentState", task_description: str):
    """
    Push to a task queue stored in core memory.

    Args:
        task_description (str): A description of the next task you must accomplish.
    """
    from letta_client import Letta
    import json

    client = Letta(base_url="http://localhost:8283")
    block = client.agents.blocks.retrieve(agent_id=agent_state.id, block_label="tasks")
    tasks = json.loads(block.value)
    tasks.append(task_description)
    client.agents.blocks.modify(
        agent_id=agent_state.id, value=json.dumps(tasks), block_label="tasks"
    )
    return None
'''
POP_BY_CLIENT = '''
def task_queue_pop(agent_state: "AgentState"):
    """
    Get the next task from the task queue
    """
    from letta_client import Letta
    import json

    client = Letta(base_url="http://localhost:8283")
    block = client.agents.blocks.retrieve(agent_id=agent_state.id, block_label="tasks")
    tasks = json.loads(block.value)
    if len(tasks) == 0:
        return None
    remaining = json.dumps(tasks[1:])
    client.agents.blocks.modify(
        agent_id=agent_state.id, value=remaining, block_label="tasks"
    )
    return f"Remaining tasks {remaining}"
'''


def task_queue(client: Letta, form: str) -> Any:
    """The task-queue agent: its tools change `agent_state`, or use a client of their own."""
    if form == "agent_state":
        tools = [upsert(client, function) for function in (task_queue_pop, task_queue_push)]
    else:
        sources = (POP_BY_CLIENT, PUSH_BY_CLIENT)
        tools = [client.tools.upsert(source_code=source) for source in sources]
    for old in items(client.agents.list(name=f"tasks_{form}")):
        client.agents.delete(agent_id=old.id)
    made = client.agents.create(
        name=f"tasks_{form}",
        system="You clear your tasks.",
        memory_blocks=[{"label": "tasks", "value": json.dumps([])}],
        model="openai/gpt-4o-mini-2024-07-18",
        embedding="openai/text-embedding-3-small",
        tool_ids=[tool.id for tool in tools],
        include_base_tools=False,
        tools=["send_message"],
    )
    before = block_of(client, made.id, "tasks").value
    chunks = stream(client, made.id, "Add two tasks")
    between = block_of(client, made.id, "tasks").value
    answer = client.agents.messages.create(agent_id=made.id, messages=[user("Complete your tasks")])
    return {
        "tools": sorted(tool.name for tool in made.tools),
        "values": [before, between, block_of(client, made.id, "tasks").value],
        "pushed": [as_printed(chunk) for chunk in chunks],
        "popped": [as_printed(message) for message in answer.messages],
    }
