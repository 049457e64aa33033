"""The demo model, as the official client hears it."""

import asyncio
import json
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpx2
import openai

from agents.llm.demo.model import MODEL, DemoTransport

HEARTBEAT = "request_heartbeat"
TOOLS = {
    "core_memory_append": ["label", "content"],
    "core_memory_replace": ["label", "old_content", "new_content"],
}
MEMORY = {
    **TOOLS,
    "archival_memory_insert": ["content", "tags"],
    "archival_memory_search": ["query", "tags", "tag_match_mode", "top_k"],
    "conversation_search": ["query", "roles", "limit"],
}


@dataclass
class Heard:
    """What the client made of one stream."""

    text: str = ""
    reasoning: str = ""
    finish: str | None = None
    calls: list[dict[str, Any]] = field(default_factory=list)
    usage: Any = None
    chunks: list[Any] = field(default_factory=list)

    def made(self) -> list[tuple[Any, ...]]:
        """Each call: its name, then its arguments."""
        return [(c["name"], *json.loads(c["arguments"]).values()) for c in self.calls]


@cache
def client(pace: float = 0) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(
        base_url="http://demo/v1",
        api_key="demo",
        max_retries=0,
        http_client=httpx2.AsyncClient(transport=DemoTransport(pace=pace)),
    )


def schema(name: str, parameters: list[str]) -> Any:
    properties = {each: {"type": "string"} for each in parameters}
    function = {"name": name, "parameters": {"type": "object", "properties": properties}}
    return {"type": "function", "function": function}


def system(human: str = "", persona: str = "You are a helpful assistant") -> Any:
    blocks = (
        f'<persona characters="{len(persona)}/2000">\n{persona}\n</persona>\n'
        f'<human characters="{len(human)}/2000">\n{human}\n</human>'
    )
    return {"role": "system", "content": f"You are an agent with core memory.\n\n{blocks}"}


def hear(messages: list[Any], tools: dict[str, list[str]] | None = None) -> Heard:
    """One streamed step of the demo model."""

    async def listen() -> Heard:
        heard = Heard()
        offered: Any = [schema(*tool) for tool in (tools or {}).items()] or openai.omit
        stream: Any = await client().chat.completions.create(
            model=MODEL,
            messages=messages,
            tools=offered,
            stream=True,
            stream_options={"include_usage": True},
        )
        async for chunk in stream:
            take(heard, chunk)
        return heard

    return asyncio.run(listen())


def take(heard: Heard, chunk: Any) -> None:
    heard.chunks.append(chunk)
    heard.usage = chunk.usage or heard.usage
    for choice in chunk.choices:
        heard.finish = choice.finish_reason or heard.finish
        heard.text += choice.delta.content or ""
        heard.reasoning += getattr(choice.delta, "reasoning_content", None) or ""
        for delta in choice.delta.tool_calls or []:
            if delta.index == len(heard.calls):
                heard.calls.append({"id": delta.id, "name": delta.function.name, "arguments": ""})
            heard.calls[delta.index]["arguments"] += delta.function.arguments or ""


def say(text: str, human: str = "", tools: Any = TOOLS, persona: str = "") -> Heard:
    """The first step of an answer to a message."""
    return hear([system(human, persona), {"role": "user", "content": text}], tools)


def converse(
    text: str, human: str = "", tools: Any = TOOLS, returns: Any = "Done.", persona: str = ""
) -> tuple[list[tuple[Any, ...]], Heard]:
    """A whole turn: all calls made, and the last step. `returns` may be a list, used in order."""
    queue = list(returns) if isinstance(returns, list) else None
    messages: list[Any] = [system(human, persona), {"role": "user", "content": text}]
    made: list[tuple[Any, ...]] = []
    for _ in range(12):
        heard = hear(messages, tools)
        if not heard.calls or heard.calls[0]["name"] == "send_message":
            return made, heard
        made += heard.made()
        calls = [
            {
                "id": c["id"],
                "type": "function",
                "function": {k: c[k] for k in ("name", "arguments")},
            }
            for c in heard.calls
        ]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        for call in calls:
            content = returns if queue is None else queue.pop(0)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})
    raise AssertionError("the turn does not end")


def append(content: str, label: str = "human") -> tuple[str, ...]:
    return ("core_memory_append", label, content)


def replace(old: str, new: str, label: str = "human") -> tuple[str, ...]:
    return ("core_memory_replace", label, old, new)
