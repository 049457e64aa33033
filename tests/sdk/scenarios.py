"""What notebooks do, written anew, played by the interpreter of one SDK version.

It imports nothing of ours. 0.1.x and 1.x say some things in other words; what they say is the same.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import letta_client
from letta_client import Letta

VERSION = tuple(int(part) for part in sys.argv[1].split("."))
OLD = VERSION < (1,)


def connect(base_url: str, token: str | None = None) -> Letta:
    return Letta(base_url=base_url, **({"token": token} if OLD else {"api_key": token}))


def items(listed: Any) -> list[Any]:
    """All of a list: 1.x goes through it page by page to its end."""
    return list(listed)


def upsert(client: Letta, function: Any) -> Any:
    """1.12.1 takes only a source."""
    if hasattr(client.tools, "upsert_from_function"):
        return client.tools.upsert_from_function(func=function)
    import inspect
    import textwrap

    return client.tools.upsert(source_code=textwrap.dedent(inspect.getsource(function)))


def block_of(client: Letta, agent_id: str, label: str) -> Any:
    if VERSION < (0, 1, 43):
        return client.agents.core_memory.retrieve_block(agent_id=agent_id, block_label=label)
    return client.agents.blocks.retrieve(label, agent_id=agent_id) if not OLD else (
        client.agents.blocks.retrieve(agent_id=agent_id, block_label=label)
    )  # fmt: skip


def user(text: str) -> Any:
    if OLD:
        return letta_client.MessageCreate(role="user", content=text)
    return {"role": "user", "content": text}


def stream(client: Letta, agent_id: str, text: str, **more: Any) -> list[Any]:
    messages = client.agents.messages
    call = messages.create_stream if OLD else messages.stream
    return list(call(agent_id=agent_id, messages=[user(text)], **more))


def told(message: Any) -> list[str]:
    """A message as the notebooks print it."""
    kind = message.message_type
    if kind == "reasoning_message":
        return [kind, message.reasoning]
    if kind in ("assistant_message", "user_message", "system_message"):
        return [kind, message.content]
    if kind == "tool_call_message":
        return [kind, message.tool_call.name + message.tool_call.arguments]
    if kind == "tool_return_message":
        return [kind, message.tool_return]
    return [kind]


def usage_of(usage: Any) -> list[int]:
    return [
        usage.prompt_tokens,
        usage.completion_tokens,
        usage.total_tokens,
        usage.step_count,
    ]


# -- scenarios -------------------------------------------------------------------------------------


def simple_agent(client: Letta) -> Any:
    """An agent with memory answers; what it said can be listed; what it took is told."""
    made = client.agents.create(
        name="simple_agent",
        memory_blocks=[
            {"label": "human", "value": "My name is Charles", "limit": 10000},
            {"label": "persona", "value": "You are a helpful assistant"},
        ],
        model="openai/gpt-4o-mini-2024-07-18",
        embedding="openai/text-embedding-3-small",
    )
    answer = client.agents.messages.create(agent_id=made.id, messages=[user("hows it going????")])
    listed = items(client.agents.messages.list(agent_id=made.id))
    return {
        "system": made.system,
        "tools": [tool.name for tool in made.tools],
        "blocks": {block.label: [block.value, block.limit] for block in made.memory.blocks},
        "said": [told(message) for message in answer.messages],
        "usage": usage_of(answer.usage),
        "stop": answer.stop_reason.stop_reason
        if not isinstance(answer.stop_reason, dict)
        else answer.stop_reason["stop_reason"],
        "listed": [told(message) for message in listed],
        "classes": [type(message).__name__ for message in listed],
        "again": client.agents.retrieve(made.id).name,
    }


def human_block_changes(client: Letta) -> Any:
    """New information changes the human block; a script changes it too."""
    blocks = [{"label": "human", "value": "My name is Charles"}]
    made = client.agents.create(memory_blocks=blocks, model="letta/letta-free")
    answer = client.agents.messages.create(
        agent_id=made.id, messages=[user("my name actually Sarah")]
    )
    after = block_of(client, made.id, "human").value
    by_script = ""
    if VERSION >= (0, 1, 43):
        change = client.agents.blocks.modify if OLD else client.agents.blocks.update
        named = {"block_label": "human"}
        by_script = change(agent_id=made.id, value="Name: Ann", **named).value
    return {"said": [told(m) for m in answer.messages], "after": after, "by_script": by_script}


def archival_memory(client: Letta) -> Any:
    """The agent puts a text away and finds it; a script does the same."""
    made = client.agents.create(memory_blocks=[], model="openai/gpt-4o-mini")
    said = []
    for text in ("Save 'bob loves cats' to archival", "Search archival for animals"):
        answer = client.agents.messages.create(agent_id=made.id, messages=[user(text)])
        said.append([told(message) for message in answer.messages])
    old = VERSION < (0, 1, 43)
    passages = client.agents.archival_memory if old else client.agents.passages
    new = passages.create(agent_id=made.id, text="Bob loves boston terriers")
    return {
        "said": said,
        "made": new[0].text,
        "texts": [passage.text for passage in passages.list(agent_id=made.id)],
    }


def memory_blocks(client: Letta) -> Any:
    """Blocks by themselves, and as an agent holds them; the template that compiles them."""
    alone = client.blocks.create(label="human", value="Name: Bob")
    client.blocks.create(label="persona", value="You are a helpful assistant")
    found = items(client.blocks.list(label="human"))
    made = client.agents.create(
        memory_blocks=[
            {"label": "human", "value": "The human's name is Bob the Builder."},
            {"label": "persona", "value": "My name is Sam, the all-knowing sentient AI."},
        ],
        model="openai/gpt-4o-mini",
        embedding="openai/text-embedding-3-small",
    )
    first = made.memory.blocks[0]
    template = ""
    if OLD:
        template = client.agents.core_memory.retrieve(agent_id=made.id).prompt_template
    return {
        "alone": [alone.label, alone.value, alone.limit],
        "found": alone.id in [block.id for block in found],
        "labels": sorted({block.label for block in found}),
        "retrieved": client.blocks.retrieve(first.id).value,
        "by_label": block_of(client, made.id, "human").value,
        "template": template,
        "name": made.name,
    }


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
        "chunks": [told(chunk) for chunk in chunks],
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
        "pushed": [told(chunk) for chunk in chunks],
        "popped": [told(message) for message in answer.messages],
    }


def token_stream(client: Letta) -> Any:
    """Pieces of an answer share an id and add up."""
    plain = {"agent_type": "letta_v1_agent"} if VERSION >= (0, 1, 300) else {}
    tools = {"include_base_tools": False}
    made = client.agents.create(memory_blocks=[], model="openai/gpt-4o-mini", **tools, **plain)
    chunks = stream(client, made.id, "Tell me a story", stream_tokens=True)
    pieces = [chunk for chunk in chunks if chunk.message_type == "assistant_message"]
    return {
        "text": "".join(piece.content for piece in pieces),
        "ids": len({piece.id for piece in pieces}),
        "pieces": len(pieces),
        "last": chunks[-1].message_type,
    }


def lists_come_to_an_end(client: Letta) -> Any:
    """Going through lists page by page ends with everything, once."""
    names = [f"listed_{number}" for number in range(5)]
    for name in names:
        client.agents.create(name=name, memory_blocks=[], tags=["listed"], model="letta/letta-free")
    page = {} if OLD else {"limit": 2}
    agents = [agent.name for agent in items(client.agents.list(tags=["listed"], **page))]
    blocks = [client.blocks.create(label="listed", value=name).id for name in names]
    found = [block.id for block in items(client.blocks.list(label="listed", **page))]
    tools = [tool.id for tool in items(client.tools.list(limit=100 if OLD else 3))]
    return {
        "agents": agents,
        "blocks": [found.count(block) for block in blocks],
        "tools": [len(tools), len(set(tools))],
    }


def errors(client: Letta, base_url: str) -> Any:
    """What is wrong comes as the SDK's typed exceptions."""
    told = []
    for call in (
        lambda: client.agents.retrieve("agent-00000000-0000-4000-8000-000000000099"),
        lambda: client.agents.create(memory_blocks=[{"label": "\n", "value": ""}]),
        lambda: connect(base_url, "mw_wrong").blocks.list(),
    ):
        try:
            call()
        except Exception as error:
            told.append([type(error).__name__, error.status_code, "detail" in str(error)])  # type: ignore[attr-defined]
    return told


def agent_file(client: Letta) -> Any:
    """An agent exported, and imported again with another name, without what was said."""
    made = client.agents.create(
        name="exported",
        memory_blocks=[{"label": "human", "value": "My name is Ada"}],
        model="openai/gpt-4o-mini",
    )
    client.agents.messages.create(agent_id=made.id, messages=[user("Hello")])
    exported = client.agents.export_file(made.id)  # JSON, or, in 1.x, its text
    raw = (json.dumps(exported) if OLD else exported).encode()
    copied = client.agents.import_file(file=("exported.af", raw))
    more = {"append_copy_suffix": False} if OLD else {"name": "renamed"}
    emptied = client.agents.import_file(file=("exported.af", raw), strip_messages=True, **more)
    agents = [client.agents.retrieve(each.agent_ids[0]) for each in (copied, emptied)]
    try:
        client.agents.import_file(file=("no.af", b"no agent file"))
        refused = ""
    except letta_client.UnprocessableEntityError as error:
        refused = str(error)
    return {
        "names": [agent.name for agent in agents],
        "blocks": [block_of(client, agent.id, "human").value for agent in agents],
        "said": [
            [told(message) for message in items(client.agents.messages.list(agent_id=agent.id))][1:]
            for agent in agents
        ],
        "notes": copied.notes,
        "refused": refused,
    }


def rules_of_tools(client: Letta) -> Any:
    """Tool rules as they are given, and as what they come back."""
    plain = ["send_message", "core_memory_append"]
    given = [
        {"type": "continue_loop", "tool_name": "core_memory_append"},
        {"type": "exit_loop", "tool_name": "send_message"},
        {
            "type": "conditional",
            "tool_name": "core_memory_append",
            "child_output_mapping": {"OK": "send_message"},
            "default_child": "core_memory_append",
        },
        {"type": "constrain_child_tools", "tool_name": "core_memory_append", "children": plain},
    ]
    if VERSION > (0, 1, 42):
        given += [
            {"type": "required_before_exit", "tool_name": "core_memory_append"},
            {"type": "parent_last_tool", "tool_name": "core_memory_append", "children": plain},
        ]
    made = client.agents.create(memory_blocks=[], model="openai/gpt-4o-mini", tool_rules=given)
    return [[type(rule).__name__, rule.type] for rule in made.tool_rules]


def identities(client: Letta) -> Any:
    """Whom an agent is for: made, found by, changed; 1.12 only knows it of an agent."""
    caren = {"identifier_key": "user-7", "name": "Caren", "identity_type": "user"}
    if OLD:
        made = client.identities.create(**caren)
        again = client.identities.upsert(**{**caren, "name": "Karen"})
        same = again.id == made.id
        identity_id = made.id
    else:
        made = client.post("/v1/identities/", cast_to=object, body=caren)
        identity_id, same = made["id"], True
    agents = [
        client.agents.create(name=name, memory_blocks=[], model="letta/letta-free", **more)
        for name, more in (("hers", {"identity_ids": [identity_id]}), ("nobodys", {}))
    ]
    found = [
        [agent.name for agent in items(client.agents.list(**query))]
        for query in ({"identity_id": identity_id}, {"identifier_keys": ["user-7"]})
        if OLD or "identity_id" in query
    ]
    if not OLD:
        client.agents.identities.attach(identity_id, agent_id=agents[1].id)
        client.agents.identities.detach(identity_id, agent_id=agents[0].id)
    else:
        client.identities.modify(identity_id=identity_id, agent_ids=[agents[1].id])
        listed = [identity.name for identity in client.identities.list(identifier_key="user-7")]
        assert listed == ["Karen"], listed
        assert client.identities.count() == 1
    shown = [client.agents.retrieve(agent.id) for agent in agents]
    counts = [len(agent.identity_ids) for agent in shown]
    if OLD:
        assert len(client.identities.retrieve(identity_id=identity_id).agent_ids) == 2
        client.identities.delete(identity_id=identity_id)
    else:
        client.delete(f"/v1/identities/{identity_id}", cast_to=object)
    return {"same": same, "found": found, "counts": counts}


def goes_on(client: Letta) -> Any:
    """A run in the background, its steps, what was sent; a stream taken up again."""
    made = client.agents.create(memory_blocks=[], model="openai/gpt-4o-mini")
    run = client.agents.messages.create_async(agent_id=made.id, messages=[user("Hello")])
    again = client.runs.messages.stream(run.id, starting_after=0)
    chunks = [told(chunk) for chunk in again]
    steps = items(client.runs.steps.list(run.id))
    trace = client.steps.trace.retrieve(steps[0].id)
    return {
        "chunks": chunks,
        "status": client.runs.retrieve(run.id).status,
        "steps": len(steps),
        "sent": trace.request_json["messages"][-1]["content"],
        "health": client.health().status,
        "models": [model.handle for model in items(client.models.list())],
    }
