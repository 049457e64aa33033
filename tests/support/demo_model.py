"""The demo model as the official client hears it, with the product's own tools on offer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from functools import cache
from typing import Any

import httpx2
import openai

from agents import tools
from agents.llm.demo import DemoTransport

MEMORY = (
    "core_memory_append",
    "core_memory_replace",
    "archival_memory_insert",
    "archival_memory_search",
    "conversation_search",
)


@cache
def client(pace: float = 0) -> openai.AsyncOpenAI:
    transport = httpx2.AsyncClient(transport=DemoTransport(pace))
    return openai.AsyncOpenAI(
        base_url="http://demo/v1", api_key="demo", max_retries=0, http_client=transport
    )


def schemas(*names: str, heartbeat: bool = False) -> list[Any]:
    return tools.schemas([tools.get(name) for name in names], heartbeat=heartbeat)


def schema(name: str, parameters: dict[str, str], optional: Sequence[str] = ()) -> dict[str, Any]:
    """A tool of one's own, with the types of its parameters by name."""
    typed = {each: {"type": kind} for each, kind in parameters.items()}
    required = [each for each in typed if each not in optional]
    schema = {"type": "object", "properties": typed, "required": required}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


def system(human: str = "", more: str = "") -> dict[str, Any]:
    blocks = (
        '<persona characters="11/2000">\nYou are kind\n</persona>\n'
        f'<human characters="{len(human)}/2000">\n{human}\n</human>'
    )
    return {
        "role": "system",
        "content": f"You are an agent with core memory.\n\n{blocks}\n\n{more}",
    }


def chunks_of(messages: Sequence[Any], offered: Sequence[Any] = (), **more: Any) -> list[Any]:
    """One streamed step."""
    more |= {"tools": list(offered)} if offered else {}

    async def listen() -> list[Any]:
        stream: Any = await client().chat.completions.create(
            model="memoryweb-demo",
            messages=list(messages),
            stream=True,
            stream_options={"include_usage": True},
            **more,
        )
        return [chunk async for chunk in stream]

    return asyncio.run(listen())


def step(
    messages: Sequence[Any], offered: Sequence[Any] = (), **more: Any
) -> tuple[str, list[dict[str, Any]]]:
    """The text of one step, and its tool calls as a request has them."""
    text, calls = "", []
    for chunk in chunks_of(messages, offered, **more):
        for choice in chunk.choices:
            text += choice.delta.content or ""
            for delta in choice.delta.tool_calls or []:
                if delta.id:
                    function = {"name": delta.function.name, "arguments": ""}
                    calls.append({"id": delta.id, "type": "function", "function": function})
                calls[delta.index]["function"]["arguments"] += delta.function.arguments or ""
    return text, calls


def named(calls: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Each call: its name, then its arguments."""
    return [
        (call["function"]["name"], *json.loads(call["function"]["arguments"]).values())
        for call in calls
    ]


def first_calls(text: str, human: str = "", offered: Any = None, more: str = "") -> list[Any]:
    """The calls of the first step of an answer to a message."""
    messages = [system(human, more), {"role": "user", "content": text}]
    return named(step(messages, schemas(*MEMORY) if offered is None else offered)[1])


def answer(
    text: str, human: str = "", returned: str = "Done.", offered: Any = None, more: str = ""
) -> str:
    """What ends a turn in which every call returned this."""
    offered = schemas(*MEMORY) if offered is None else offered
    messages: list[Any] = [system(human, more), {"role": "user", "content": text}]
    said, calls = step(messages, offered)
    if calls:
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages += [
            {"role": "tool", "tool_call_id": call["id"], "content": returned} for call in calls
        ]
        said, calls = step(messages, offered)
    assert not calls, "the turn does not end"
    return said
