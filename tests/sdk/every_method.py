"""Each method that the newest SDK has, found by looking at its resources, and called once.

The server's answer is read as JSON and held against the type that the SDK gives the method, by
pydantic: the SDK itself takes whatever comes.
"""

from __future__ import annotations

import inspect
import json
import time
import typing
from collections.abc import Callable, Iterator
from typing import Any

import letta_client
from pydantic import TypeAdapter, ValidationError

from tests.sdk.operations import SOURCE, finished

RESOURCES = "letta_client.resources"
LAST = ("detach", "delete", "agents.messages.reset", "agents.delete")  # they take things away
HELLO = {"messages": [{"role": "user", "content": "Hello"}]}
NOWHERE = "00000000-0000-4000-8000-000000000099"


def every_method(client: Any) -> Any:
    """By method: "valid", "501", or what is wrong with the answer."""
    world = made(client)
    found = sorted(methods(client), key=lambda each: (late(each[0]), each[0]))
    return {name: called(client, resource, name, world) for name, resource in found}


def methods(resource: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The name of each method, with the resource that has it."""
    for name in sorted(vars(type(resource))):
        if name.startswith(("_", "with_")):
            continue
        of = inspect.getattr_static(type(resource), name)
        if inspect.isfunction(of) and type(resource).__module__.startswith(RESOURCES):
            yield f"{path}{name}", resource
        elif not inspect.isfunction(of):
            inner = getattr(resource, name)
            if type(inner).__module__.startswith(RESOURCES):
                yield from methods(inner, f"{path}{name}.")


def late(name: str) -> int:
    return max((place for place, end in enumerate(LAST, 1) if name.endswith(end)), default=0)


# -- what methods are called with ------------------------------------------------------------------


def made(client: Any) -> dict[str, Any]:
    """One of each thing that a method can name, by the name of the parameter."""
    tool = client.tools.create(source_code=SOURCE)
    blocks = [{"label": "human", "value": "Bob keeps bees"}]
    agent = client.agents.create(memory_blocks=blocks, tool_ids=[tool.id])
    block = client.blocks.create(label="plans", value="None yet")
    (passage,) = client.agents.passages.create(agent_id=agent.id, text="Bob keeps bees")
    first = client.agents.messages.create_async(agent_id=agent.id, **HELLO)
    run = finished(client, first.id)
    conversation = client.conversations.create(agent_id=agent.id)
    list(client.conversations.messages.create(conversation.id, **HELLO))
    given = {"identifier_key": "bob", "name": "Bob", "identity_type": "user"}
    identity = client.post("/v1/identities/", body=given, cast_to=object)
    at = {"type": "one-time", "scheduled_at": (time.time() + 86_400) * 1000}
    scheduled = client.agents.schedule.create(agent.id, messages=HELLO["messages"], schedule=at)
    return {
        "agent_id": agent.id,
        "archive_id": passage.archive_id,
        "block_id": block.id,
        "block_label": "human",
        "tool_id": tool.id,
        "tool_name": tool.name,
        "memory_id": passage.id,
        "passage_id": client.agents.passages.create(agent_id=agent.id, text="x")[0].id,
        "conversation_id": conversation.id,
        "identity_id": identity["id"],
        "run_id": run.id,
        "path_run_id": run.id,
        "step_id": next(iter(client.runs.steps.list(run.id))).id,
        "message_id": next(iter(client.runs.messages.list(run.id))).id,
        "query": "bees",
        "text": "Bees make honey",
        "passages": [{"text": "One"}, {"text": "Two"}],
        "label": "notes",
        "value": "",
        "source_code": SOURCE.replace("shout", "call_out"),
        "body_requires_approval": False,
        "messages": HELLO["messages"],
        "file": ("agent.af", client.agents.export_file(agent.id).encode()),
        "schedule": at,
        "scheduled_message_id": scheduled.id,
        "config": {"mcp_server_type": "sse", "server_url": "https://example.org"},
        "policy": {"version": "1", "data": []},
        "type": "agent",
    }


def given_to(client: Any, name: str, world: dict[str, Any]) -> dict[str, Any]:
    """What a method is called with beyond what it cannot do without."""
    if name.endswith(".cancel"):
        slow = {"role": "user", "content": "Write a long text, please."}
        of = {"agent_id": world["agent_id"]}
        if name == "conversations.cancel":
            of = {
                "conversation_id": world["conversation_id"],
                "streaming": True,
                "background": True,
            }
            client.conversations.messages.create(**of, messages=[slow])
        else:
            client.agents.messages.create_async(**of, messages=[slow])
    if name in ("agents.messages.create", "agents.messages.stream", "agents.messages.create_async"):
        return HELLO
    more: dict[str, dict[str, Any]] = {
        "agents.create": {"name": "another"},
        "agents.tools.run": {"args": {"words": "hi"}},
        "agents.update": {"name": "renamed"},
        "agents.blocks.update": {"value": "Bob keeps more bees"},
        "blocks.update": {"value": "Some"},
        "conversations.messages.create": HELLO,
        "conversations.update": {"summary": "About bees"},
        "passages.search": {"query": "bees"},
        "steps.feedback.create": {"feedback": "positive", "tags": ["kind"]},
        "templates.create": {"agent_id": world["agent_id"]},
        "tools.search": {"query": "shout"},
        "tools.update": {"tags": ["loud"]},
    }
    return more.get(name, {})


# -- what is answered ------------------------------------------------------------------------------


def called(client: Any, resource: Any, name: str, world: dict[str, Any]) -> str:
    """Call a method; what its answer is worth."""
    method = getattr(resource, name.rpartition(".")[2])
    needed = [
        each.name
        for each in inspect.signature(method).parameters.values()
        if each.default is inspect.Parameter.empty
    ]
    arguments = {each: world.get(each, f"{each}-{NOWHERE}") for each in needed}
    arguments |= given_to(client, name, world)
    raw = getattr(resource.with_raw_response, name.rpartition(".")[2])
    try:
        response = raw(**arguments).http_response
        response.read()
    except letta_client.APIStatusError as error:
        sentence = json.loads(error.response.content)["detail"]
        absent = error.status_code == 501 and "Instead, use " in sentence
        return "501" if absent else f"{error.status_code}: {sentence}"
    wanted = typing.get_type_hints(method)["return"]
    streamed = "event-stream" in response.headers["content-type"]
    try:
        for text in events(response.text) if streamed else [response.text]:
            shape(wanted, streamed=streamed)(text)
    except ValidationError as error:
        return f"{wanted}: {error}"
    return "valid"


def events(text: str) -> list[str]:
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    return [line for line in lines if line != "[DONE]"]


def shape(wanted: Any, *, streamed: bool) -> Callable[[str], Any]:
    """What reads a text as the type that a method gives back."""
    if wanted is str:  # the SDK gives the answer's text
        return str
    parts = typing.get_args(wanted)
    streams = [each for each in (wanted, *parts) if typing.get_origin(each) is letta_client.Stream]
    if streamed:
        (wanted,) = typing.get_args(streams[0])
    elif streams:
        (wanted,) = (each for each in parts if each not in streams)
    paged = getattr(wanted, "__pydantic_generic_metadata__", {}).get("args")
    return TypeAdapter(list[paged[0]] if paged else wanted).validate_json  # type: ignore[valid-type]
