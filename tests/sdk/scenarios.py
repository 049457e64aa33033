"""What notebooks do, written anew, played by the interpreter of one SDK version."""

from __future__ import annotations

import json
from typing import Any

import letta_client
from letta_client import Letta

from tests.sdk.any_version import (
    OLD,
    VERSION,
    as_printed,
    block_of,
    connect,
    items,
    stream,
    usage_of,
    user,
)


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
        "said": [as_printed(message) for message in answer.messages],
        "usage": usage_of(answer.usage),
        "stop": answer.stop_reason.stop_reason
        if not isinstance(answer.stop_reason, dict)
        else answer.stop_reason["stop_reason"],
        "listed": [as_printed(message) for message in listed],
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
    return {
        "said": [as_printed(m) for m in answer.messages],
        "after": after,
        "by_script": by_script,
    }


def archival_memory(client: Letta) -> Any:
    """The agent puts a text away and finds it; a script does the same."""
    made = client.agents.create(memory_blocks=[], model="openai/gpt-4o-mini")
    said = []
    for text in ("Save 'bob loves cats' to archival", "Search archival for animals"):
        answer = client.agents.messages.create(agent_id=made.id, messages=[user(text)])
        said.append([as_printed(message) for message in answer.messages])
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
            [
                as_printed(message)
                for message in items(client.agents.messages.list(agent_id=agent.id))
            ][1:]
            for agent in agents
        ],
        "notes": copied.notes,
        "refused": refused,
    }


def conversation_file(client: Letta) -> Any:
    """One conversation of an agent exported, and imported as the history of another agent."""
    made = client.agents.create(name="of two", model="openai/gpt-4o-mini")
    client.agents.messages.create(made.id, messages=[user("In the first")])
    second = client.conversations.create(agent_id=made.id, summary="Second")
    client.conversations.messages.create(second.id, input="In the second", streaming=False)
    raw = client.agents.export_file(made.id, conversation_id=second.id).encode()
    copied = client.agents.import_file(file=("one.af", raw)).agent_ids[0]
    said = [as_printed(each) for each in items(client.agents.messages.list(agent_id=copied))][1:]
    held = client.conversations.list(agent_id=copied)
    return {"said": said, "titles": [each.summary for each in held]}


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
    chunks = [as_printed(chunk) for chunk in again]
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


def quota_used_up(client: Letta) -> Any:
    """A message that is more than a quota allows is the error by which programs know to wait."""
    made = client.agents.create(memory_blocks=[], model="openai/gpt-4o-mini")
    kind: Any = letta_client.core.api_error.ApiError if OLD else letta_client.RateLimitError
    try:
        client.agents.messages.create(agent_id=made.id, messages=[user("Hello")])
    except kind as error:
        return {"status": error.status_code, "said": error.body["detail"]}
    return {}
