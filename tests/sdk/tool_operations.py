"""What scripts do with tools and agent files beside talking, each operation called once."""

from __future__ import annotations

from typing import Any

from tests.sdk.any_version import OLD, VERSION, items, user
from tests.sdk.operations import MODEL, SOURCE, call


def tools(client: Any) -> Any:
    """Made of source, tried, changed, attached and detached, deleted."""
    for old in items(client.tools.list(limit=100)):
        if old.name == "shout":
            client.tools.delete(tool_id=old.id)
    tool = client.tools.create(source_code=SOURCE)
    made = client.agents.create(name="caller", memory_blocks=[], model=MODEL)
    both = {"agent_id": made.id, "tool_id": tool.id}
    client.agents.tools.attach(**both)
    attached = [each.name for each in items(client.agents.tools.list(agent_id=made.id))]
    asked = "requires_approval" if OLD else "body_requires_approval"
    named = {"agent_id": made.id, "tool_name": "shout", asked: True}
    call(client, "agents.tools.modify_approval agents.tools.update_approval", **named)
    client.agents.tools.detach(**both)
    detached = [each.name for each in items(client.agents.tools.list(agent_id=made.id))]
    changed = SOURCE.replace("louder", "very loud")
    call(client, "tools.modify tools.update", tool_id=tool.id, source_code=changed)
    tried = call(client, "tools.run_tool_from_source", source_code=SOURCE, args={"words": "hi"})
    described = client.tools.retrieve(tool.id).description
    call(client, "tools.upsert_base_tools tools.add_base_tool")
    counted = call(client, "tools.count")
    client.tools.delete(tool_id=tool.id)
    return {
        "attached": ["shout" in attached, "shout" in detached],
        "described": described,
        "tried": tried is None or tried.tool_return,
        "counted": counted is None or counted > 1,
        "left": "shout" in [each.name for each in items(client.tools.list(limit=100))],
    }


def gated_tool(client: Any) -> Any:
    """A tool that needs approval waits, without a rule on the agent; until the agent is told."""
    tool = client.tools.create(source_code=SOURCE, default_requires_approval=True)
    made = client.agents.create(name="caller", memory_blocks=[], model=MODEL, tool_ids=[tool.id])
    rules = [rule.type for rule in made.tool_rules]
    hello = {"agent_id": made.id, "messages": [user("Louder!")]}
    waited = client.agents.messages.create(**hello)
    refusal: Any = {"type": "approval", "approve": False, "reason": "No."}
    if VERSION > (1, 0):
        call_id = waited.messages[-1].tool_call.tool_call_id
        refusal["approvals"] = [{"type": "approval", "tool_call_id": call_id, "approve": False}]
    refusal["approval_request_id"] = waited.messages[-1].id
    client.agents.messages.create(agent_id=made.id, messages=[refusal])
    asked = "requires_approval" if OLD else "body_requires_approval"
    named = {"agent_id": made.id, "tool_name": "shout", asked: False}
    call(client, "agents.tools.modify_approval agents.tools.update_approval", **named)
    ran = client.agents.messages.create(**hello)
    client.tools.delete(tool_id=tool.id)
    returns = [m.tool_return for m in ran.messages if m.message_type == "tool_return_message"]
    return {
        "flag": tool.default_requires_approval,
        "rules": rules,
        "waited": waited.stop_reason.stop_reason,
        "returned": returns[0],
    }


BARE = "def greet(name, times=2):\n    return f'Hello {name}! ' * times\n"
PARAMETERS = {
    "type": "object",
    "properties": {"name": {"type": "string", "description": "Whom"}},
    "required": ["name"],
}


def schemas(client: Any) -> Any:
    """A source without docstring and types, with a schema of its own; searched for, and called."""
    schema = {"name": "greet", "description": "Greets people", "parameters": PARAMETERS}
    tool = client.tools.create(source_code=BARE, json_schema=schema, description="Greets")
    same = client.tools.upsert(source_code=BARE, args_json_schema=PARAMETERS)
    made = client.agents.create(name="host", memory_blocks=[], model=MODEL, tool_ids=[tool.id])
    found = call(client, "tools.search", query="greet somebody")
    named = {"agent_id": made.id, "tool_name": "greet", "args": {"name": "Bob"}}
    ran = call(client, "agents.tools.run", **named)
    try:
        client.tools.upsert(source_code=BARE, pip_requirements=[{"name": "requests"}])
        refused = ""
    except Exception as error:
        refused = str(error)
    client.tools.delete(tool_id=tool.id)
    return {
        "described": [tool.description, same.id == tool.id, same.description],
        "schema": tool.json_schema["parameters"] == PARAMETERS,
        "found": found is None or found[0].tool.name,
        "ran": ran is None or [ran.status, ran.func_return],
        "refused": "pip_requirements" in refused,
    }


def judged_file(client: Any) -> Any:
    """An agent file of an agent with a tool that asks, checked by the types that Letta published.

    Only versions of those years have them.
    """
    from letta_client.types import AgentFileSchema

    tool = client.tools.create(source_code=SOURCE, default_requires_approval=True)
    block = {"label": "human", "value": "Name: Bob"}
    made = client.agents.create(
        name="exported", memory_blocks=[block], model=MODEL, tool_ids=[tool.id], tags=["kept"]
    )
    named = {"agent_id": made.id, "tool_name": "shout", "requires_approval": False}
    client.agents.tools.modify_approval(**named)
    client.agents.messages.create(agent_id=made.id, messages=[user("Hello")])
    file = AgentFileSchema.model_validate(client.agents.export_file(made.id))
    client.tools.delete(tool_id=tool.id)
    (agent,) = file.agents
    return {
        "asks": [each.name for each in file.tools if each.default_requires_approval],
        "rules": agent.tool_rules,
        "roles": [message.role for message in agent.messages],
        "blocks": [each.label for each in file.blocks],
    }
