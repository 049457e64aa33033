"""The client of any SDK version. It imports nothing of ours.

0.1.x and 1.x say some things in other words; what they say is the same.
"""

from __future__ import annotations

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


def as_printed(message: Any) -> list[str]:
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
    return [usage.prompt_tokens, usage.completion_tokens, usage.total_tokens, usage.step_count]
