"""What scripts do beside talking: each operation that an SDK has a method for, called once.

The versions of the SDK name some methods in other words, and not every version has every method.
"""

from __future__ import annotations

from typing import Any

from scenarios import OLD, VERSION, block_of, items, user

MODEL = "openai/gpt-4o-mini"
SOURCE = '''
def shout(words: str):
    """
    Say it louder

    Args:
        words (str): What to say.
    """
    return words.upper()
'''


def call(client: Any, names: str, **given: Any) -> Any:
    """Call the first of these methods that this version has; None where it has none of them."""
    for name in names.split():
        found = client
        for part in name.split("."):
            found = getattr(found, part, None)
        if found:
            return found(**given)
    return None


def agents(client: Any) -> Any:
    """Counted, changed, found by tag, its messages reset, deleted."""
    made = client.agents.create(name="one", memory_blocks=[], model=MODEL, tags=["kept"])
    counted = call(client, "agents.count")
    tags = call(client, "tags.list tag.list_tags")
    renamed = call(client, "agents.modify agents.update", agent_id=made.id, name="another")
    call(client, "agents.messages.reset agents.reset_messages", agent_id=made.id)
    messages = items(client.agents.messages.list(agent_id=made.id))
    client.agents.delete(agent_id=made.id)
    left = [agent.id for agent in items(client.agents.list())]
    return {
        "counted": counted is None or counted >= 1,
        "tagged": "kept" in items(tags),
        "renamed": renamed.name,
        "messages": [message.message_type for message in messages],
        "left": made.id in left,
    }


def blocks(client: Any) -> Any:
    """Counted, changed, attached to an agent and detached, deleted."""
    block = client.blocks.create(label="plans", value="None yet")
    made = client.agents.create(name="holder", memory_blocks=[], model=MODEL)
    both = {"agent_id": made.id, "block_id": block.id}
    call(client, "agents.blocks.attach agents.core_memory.attach_block", **both)
    call(client, "blocks.modify blocks.update", block_id=block.id, value="Sail")
    held = block_of(client, made.id, "plans").value
    if VERSION < (0, 1, 43):
        change = {"block_label": "plans", "value": "Sail home"}
        client.agents.core_memory.modify_block(agent_id=made.id, **change)
    labels = call(client, "agents.core_memory.list_blocks agents.blocks.list", agent_id=made.id)
    shown = [each.label for each in items(labels)]
    holders = call(client, "blocks.list_agents_for_block blocks.agents.list", block_id=block.id)
    names = [agent.name for agent in items(holders)]
    counted = call(client, "blocks.count")
    call(client, "agents.blocks.detach agents.core_memory.detach_block", **both)
    labels = call(client, "agents.core_memory.list_blocks agents.blocks.list", agent_id=made.id)
    client.blocks.delete(block_id=block.id)
    return {
        "held": held,
        "labels": [shown, [each.label for each in items(labels)]],
        "holders": names,
        "counted": counted is None or counted >= 1,
        "left": block.id in [each.id for each in items(client.blocks.list(label="plans"))],
    }


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
    changed = {"tool_id": tool.id, "description": "Say it very loud"}
    call(client, "tools.modify tools.update", **changed)
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


def messages(client: Any) -> Any:
    """Changed, searched, a run of them cancelled."""
    made = client.agents.create(name="talker", memory_blocks=[], model=MODEL)
    client.agents.messages.create(agent_id=made.id, messages=[user("I like gooseberries")])
    (said,) = [
        message
        for message in items(client.agents.messages.list(agent_id=made.id))
        if message.message_type == "user_message"
    ]
    changed = {"role": "user", "content": "I like blackcurrants"}
    if VERSION > (0, 1, 42):
        changed = {"request": {"message_type": "user_message", **changed}}  # type: ignore[dict-item]
    if OLD:
        client.agents.messages.modify(agent_id=made.id, message_id=said.id, **changed)
    found = call(client, "agents.messages.search messages.search", query="like")
    call(client, "agents.messages.cancel", agent_id=made.id)
    listed = items(client.agents.messages.list(agent_id=made.id))
    return {
        "said": [each.content for each in listed if each.message_type == "user_message"],
        "found": found is None or len(items(found)) >= 1,
    }


def passages(client: Any) -> Any:
    """Searched, changed, deleted."""
    made = client.agents.create(name="archivist", memory_blocks=[], model=MODEL)
    archive = client.agents.passages if VERSION > (0, 1, 42) else client.agents.archival_memory
    (passage,) = archive.create(agent_id=made.id, text="Bob keeps bees")
    found = call(client, "agents.passages.search", agent_id=made.id, query="bees")
    named = {"agent_id": made.id, "memory_id": passage.id}
    call(client, "agents.passages.modify", **named)
    archive.delete(**named)
    return {
        "found": found is None or [each.content for each in found.results],
        "left": [each.text for each in items(archive.list(agent_id=made.id))],
    }


def runs(client: Any) -> Any:
    """A run in the background: its messages, its steps, what it used; then it is deleted."""
    made = client.agents.create(name="runner", memory_blocks=[], model=MODEL)
    run = client.agents.messages.create_async(agent_id=made.id, messages=[user("Hello")])
    chunks = call(client, "runs.stream runs.messages.stream", **following(run.id))
    kinds = [chunk.message_type for chunk in chunks or ()]
    while client.runs.retrieve(run.id).status != "completed" if OLD_NAMES else unfinished(run):
        continue
    return kinds
