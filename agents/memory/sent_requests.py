"""The exact request of each step: what it was made of is kept, and its SHA-256 proves the rest.

A step keeps which texts it sent (`RequestText`), which version of each block, and which messages;
none of that grows with the history or with the blocks' values. From these the request is put
together again, and is shown as exact only if its SHA-256 is the one that was stored before it was
sent.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from jinja2 import TemplateError

from agents.llm.dialects import Dialect
from agents.llm.rendering import dumps
from agents.models import Conversation, RequestText, Step
from agents.models.ledger import values_of
from agents.text.core_memory import BlockText, compile_texts

from .context import METADATA_OF, Context, metadata
from .context_messages import messages_between


class HeldBlock(NamedTuple):
    """A block as a request had it, without its value."""

    id: str
    version: int
    label: str
    limit: int
    description: str = ""
    read_only: bool = False
    owner: str = ""
    kind: str = "text"
    name: str = ""


@dataclass(frozen=True)
class Request:
    """A request as it was sent. `proven`: its SHA-256 is the stored one. `outline` is the body with
    slots in the place of the images' bytes."""

    context: Context
    body: bytes
    proven: bool
    outline: str


def stored_fields(
    conversation: Conversation, context: Context, body: bytes, internal: int | None
) -> dict[str, Any]:
    """What a step stores of its request, as fields of `Step`; inside its transaction."""
    agent = conversation.agent
    texts = {
        "prompt": context.prompt,
        "template": context.template,
        "blocks": described(context),
        "metadata": METADATA_OF[agent.is_temporary] if context.metadata else "",
        "summary": context.summary,
        "tools": context.tools,
    }
    texts = {name: text for name, text in texts.items() if text}
    request: dict[str, Any] = {
        "texts": dict(zip(texts, RequestText.keep(agent, texts.values()), strict=True)),
        "versions": [block.version for block in context.blocks],
        "messages": [conversation.context_from, agent.message_count],
        "counts": context.counts,
    }
    if context.options:
        request["options"] = dumps(context.options)  # as text: Postgres sorts names in JSON
    if changes := context.dialect.changes():
        request["dialect"] = changes
    if internal is not None:
        request["internal"] = internal
    if context.images:
        request["images"] = len(context.images)
    if hidden := sum(sent.hidden for sent in context.history):
        request["hidden_images"] = hidden
    return {
        "request": request,
        "request_sha256": hashlib.sha256(body).hexdigest(),
        "context_bytes": context.text_size,
    }


def described(context: Context) -> str:
    """The blocks of a context without values and versions, as JSON; "" where there is none."""
    rows = [
        [str(block.pk), *(getattr(text, field) for field in HeldBlock._fields[2:])]
        for block, text in zip(context.blocks, context.block_texts, strict=True)
    ]
    return dumps(rows) if rows else ""


def held_blocks(step: Step) -> list[HeldBlock] | None:
    """The blocks as a step's request had them; None where nothing was kept of it."""
    if not step.request:
        return None
    name = step.request["texts"].get("blocks")
    texts = RequestText.texts(step.run.agent, [name] if name else [])
    return _held(texts.get(name, ""), step.request["versions"])


def _held(text: str, versions: Iterable[int]) -> list[HeldBlock]:
    try:
        rows = json.loads(text or "[]")
    except ValueError:  # somebody wrote to the database; the hash will tell
        return []
    return [
        HeldBlock(pk, version, *rest) for (pk, *rest), version in zip(rows, versions, strict=False)
    ]


def with_other_blocks(text: str, ids: dict[str, str]) -> str:
    """A text of `described` with other blocks in the place of some, by their ids."""
    return dumps([[ids.get(pk, pk), *rest] for pk, *rest in json.loads(text)])


def sent(step: Step) -> Request | None:
    """The request of a step; None where it was not kept (an imported step), or was removed."""
    request = step.request
    if not request or step.request_removed_after:
        return None
    agent = step.run.agent
    stored = RequestText.texts(agent, list(request["texts"].values()))
    texts = {name: stored.get(pk, "") for name, pk in request["texts"].items()}
    first, last = request["messages"]
    dialect = Dialect(**request.get("dialect", {}))
    context = Context(
        prompt=texts.get("prompt", ""),
        core_memory=core_memory_of(texts, request["versions"]),
        summary=texts.get("summary", ""),
        tools=texts.get("tools", ""),
        metadata=metadata(texts.get("metadata", ""), *request["counts"]),
        history=messages_between(
            step.run.conversation, first, last, request.get("internal"), dialect
        ),
        window=step.window,
        options=json.loads(request.get("options", "{}")),
        dialect=dialect,
        agent_id=agent.pk,
    )
    if tokens := step.prompt_tokens or step.context_tokens:
        context.bytes_per_token = context.text_size / max(tokens - context.image_tokens, 1)
    body = context.body(step.model)
    proven = hashlib.sha256(body).hexdigest() == step.request_sha256
    return Request(context, body, proven, context.outline(step.model))


def core_memory_of(texts: dict[str, str], versions: Iterable[int]) -> str:
    """Core memory as it was compiled, from the ledgers of its blocks."""
    held = _held(texts.get("blocks", ""), versions)
    values = values_of((block.id, block.version) for block in held)
    blocks = [
        BlockText(block.label, values.get((block.id, block.version), ""), *block[3:])
        for block in held
    ]
    try:
        return compile_texts(blocks, texts.get("template", ""))
    except TemplateError:  # as above
        return ""
