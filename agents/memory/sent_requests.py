"""The exact request of each step: what it was made of is kept, and its SHA-256 proves the rest.

A step keeps the names of the texts it sent (`Part`), which messages it sent, and which version of
each block; none of that grows with the history. From these the request is put together again, and
is shown as exact only if its SHA-256 is the one that was stored before it was sent.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from agents.llm.dialects import Dialect
from agents.models import Agent, Part, Step

from .context import Context
from .context_messages import history_between

TEXTS = ("prompt", "core_memory", "summary", "tools")


@dataclass(frozen=True)
class Request:
    """A request as it was sent. `proven`: its SHA-256 is the stored one."""

    context: Context
    body: bytes
    proven: bool


def kept(agent: Agent, context: Context, body: bytes, aside: int | None) -> dict[str, Any]:
    """What a step stores of its request, as fields of `Step`; inside its transaction."""
    named = [(name, text) for name in TEXTS if (text := getattr(context, name))]
    sha256s = Part.keep(agent, [text for _, text in named])
    made_of = {
        "parts": {name: sha256 for (name, _), sha256 in zip(named, sha256s, strict=True)},
        "metadata": context.metadata,
        "from": agent.context_from,
        "to": agent.message_count,
        "blocks": [
            {"id": str(b.pk), "label": b.label, "version": b.version, "limit": b.limit}
            for b in context.blocks
        ],
        "options": context.options,
        "dialect": context.dialect.changes(),
    }
    if aside is not None:
        made_of["aside"] = aside
    return {
        "request": made_of,
        "request_sha256": hashlib.sha256(body).hexdigest(),
        "context_bytes": context.size,
    }


def sent(step: Step) -> Request | None:
    """The request of a step; None where nothing was kept of it (an imported step)."""
    made_of = step.request
    if not made_of:
        return None
    agent = step.run.agent
    texts = Part.texts(agent, made_of["parts"].values())
    named = dict.fromkeys(TEXTS, "") | {
        name: texts.get(sha256, "") for name, sha256 in made_of["parts"].items()
    }
    dialect = Dialect(**made_of.get("dialect", {}))
    history = history_between(agent, made_of["from"], made_of["to"], made_of.get("aside"), dialect)
    context = Context(
        prompt=named["prompt"],
        core_memory=named["core_memory"],
        summary=named["summary"],
        tools=named["tools"],
        metadata=made_of["metadata"],
        history=history,
        window=step.window,
        options=made_of["options"],
        dialect=dialect,
    )
    if step.prompt_tokens:
        context.bytes_per_token = context.size / step.prompt_tokens
    elif step.context_tokens:
        context.bytes_per_token = context.size / step.context_tokens
    body = context.body(step.model)
    return Request(context, body, hashlib.sha256(body).hexdigest() == step.request_sha256)
