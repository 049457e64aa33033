"""What scripts do beside talking: each operation that an SDK has a method for, called once.

The versions of the SDK name some methods in other words, and not every version has every method.
"""

from __future__ import annotations

import time
from typing import Any

from tests.sdk.any_version import OLD, VERSION, block_of, items, user

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


def finished(client: Any, run_id: str, status: str = "completed") -> Any:
    """The run once it has ended, which a version that streams runs has waited for already."""
    for _ in range(500):
        run = call(client, "runs.retrieve runs.retrieve_run", run_id=run_id)
        if run.status == status:
            return run
        time.sleep(0.02)
    raise AssertionError(f"After 10 s the run is still {run.status}.")


def runs(client: Any) -> Any:
    """A run in the background: its messages, its steps, what it used."""
    made = client.agents.create(name="runner", memory_blocks=[], model=MODEL)
    run = client.agents.messages.create_async(agent_id=made.id, messages=[user("Hello")])
    active = call(client, "runs.list_active runs.list_active_runs")
    if OLD:
        chunks = call(client, "runs.stream", run_id=run.id, starting_after=0)
    else:
        chunks = client.runs.messages.stream(run.id, starting_after=0)
    streamed = chunks is None or [chunk.message_type for chunk in chunks][-1]
    finished(client, run.id)
    listed = items(call(client, "runs.list runs.list_runs"))
    said = call(client, "runs.messages.list runs.list_run_messages", run_id=run.id)
    usage = call(client, "runs.usage.retrieve runs.retrieve_run_usage", run_id=run.id)
    steps = call(client, "runs.steps.list", run_id=run.id)
    return {
        "streamed": streamed,
        "active": active is None or [each.id for each in active if each.id != run.id],
        "listed": run.id in [each.id for each in listed],
        "said": [each.message_type for each in items(said)],
        "used": usage.total_tokens > 0,
        "steps": steps is None or len(items(steps)),
        "step": one_step(client),
    }


def taken_back(client: Any) -> Any:
    """While the model is silent, another message waits; both runs are deleted."""
    made = client.agents.create(name="waiter", memory_blocks=[], model=MODEL)
    hello = {"agent_id": made.id, "messages": [user("Hello")]}
    first = client.agents.messages.create_async(**hello)
    second = client.agents.messages.create_async(**hello)
    for run in (second, first):
        call(client, "runs.delete runs.delete_run", run_id=run.id)
    return finished(client, first.id, "cancelled").status


def one_step(client: Any) -> Any:
    """The newest step, all that can be asked of it."""
    steps = items(call(client, "steps.list steps.list_steps", limit=1))
    named = {"step_id": steps[0].id}
    step = call(client, "steps.retrieve steps.retrieve_step", **named)
    messages = call(client, "steps.messages.list", **named)
    metrics = call(client, "steps.metrics.retrieve", **named)
    for names in ("steps.trace.retrieve", "telemetry.retrieve_provider_trace"):
        trace = call(client, names, **named)
        assert trace is None or trace.request_json["messages"]
    return {
        "tokens": step.total_tokens > 0,
        "messages": messages is None or len(items(messages)) > 0,
        "metrics": metrics is None or metrics.id == step.id,
    }


def catalogue(client: Any) -> Any:
    """What there is to choose from."""
    health = call(client, "health.check health")
    models = call(client, "models.list models.list_llms")
    embeddings = call(client, "models.embeddings.list models.list_embedding_models")
    again = call(client, "models.listembeddingmodels")
    return {
        "health": health.status,
        "models": [model.handle for model in items(models)],
        "embeddings": len(items(embeddings)),
        "again": again is None or len(again),
    }


def people(client: Any) -> Any:
    """Identities: counted, their agents and blocks, a property of theirs."""
    given = {"identifier_key": "user-8", "name": "Dora", "identity_type": "user"}
    made = client.identities.create(**given)
    again = client.identities.upsert(**given)
    client.agents.create(memory_blocks=[], model=MODEL, identity_ids=[made.id])
    agents_of = call(client, "identities.agents.list", identity_id=made.id)
    blocks_of = call(client, "identities.blocks.list", identity_id=made.id)
    town = [{"key": "town", "value": "Riga", "type": "string"}]
    call(client, "identities.properties.upsert", identity_id=made.id, request=town)
    client.identities.modify(identity_id=made.id, name="Theodora")
    shown = client.identities.retrieve(identity_id=made.id)
    counted = call(client, "identities.count")
    listed = [each.name for each in client.identities.list(identifier_key="user-8")]
    client.identities.delete(identity_id=made.id)
    return {
        "same": again.id == made.id,
        "agents": agents_of is None or len(items(agents_of)),
        "blocks": blocks_of is None or len(items(blocks_of)),
        "name": shown.name,
        "counted": counted is None or counted >= 1,
        "listed": listed,
    }


def schedules(client: Any) -> Any:
    """A message that is sent at once, and one that is sent each weekday until it is stopped."""
    named = client.agents.schedule
    of = {"agent_id": client.agents.create(name="early", memory_blocks=[], model=MODEL).id}
    now, daily = {"scheduled_at": time.time() * 1000}, "0 9 * * 1-5"
    sent = named.create(**of, messages=[user("Hello")], schedule=now)
    recurring = {"type": "recurring", "cron_expression": daily}
    later = named.create(**of, messages=[user("Hello")], schedule=recurring, max_steps=3)
    kept = named.retrieve(later.id, **of)
    for _ in range(500):
        run_id = getattr(named.retrieve(sent.id, **of), "last_run_id", None)
        if run_id:
            break
        time.sleep(0.02)
    finished(client, str(run_id))
    first = named.list(**of, limit="1")
    second = named.list(**of, limit="1", after=first.scheduled_messages[0].id)
    stopped = named.delete(later.id, **of)
    return {
        "when": isinstance(sent.next_scheduled_at, str),
        "over": named.retrieve(sent.id, **of).next_scheduled_time,
        "kept": [kept.schedule.cron_expression, kept.message.max_steps],
        "pages": [first.has_next_page, second.has_next_page],
        "second": second.scheduled_messages[0].id == sent.id,
        "stopped": stopped.success,
        "left": len(named.list(**of).scheduled_messages),
    }
