"""What was said and done in a conversation, entry by entry, as its exports tell it.

An entry is a dictionary that JSON holds: a message, a tool call with what it returned and which
blocks it changed, or a compaction. Rows are read a few runs at a time, however long it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agents.models import BlockEdit, Compaction, Conversation, Message, Run, Step
from agents.models.step import Card
from agents.tools import arguments_of

from .entries import stamp

RUNS_AT_ONCE = 50
Entry = dict[str, Any]


def entries_of(conversation: Conversation) -> Iterator[Entry]:
    """The entries of a conversation, in order. Call it in a `snapshot()`."""
    runs = Run.objects.shown().filter(conversation=conversation.pk)
    after = 0
    while batch := list(runs.filter(pk__gt=after)[:RUNS_AT_ONCE]):
        for run in batch:
            yield from of_run(run, conversation)
        after = batch[-1].pk


def of_run(run: Run, conversation: Conversation) -> Iterator[Entry]:
    for message in run.opening:
        yield of_message(message, conversation)
    for part in run.parts():
        if isinstance(part, Compaction):
            yield of_compaction(part)
        else:
            yield from of_step(part, conversation, reflects=run.kind == Run.Kind.REFLECTION)
    if run.error:
        yield {"kind": "failure", "text": run.error, "at": stamp(run.finished_at)}


def of_step(step: Step, conversation: Conversation, *, reflects: bool) -> Iterator[Entry]:
    message = step.message
    if message is None or message.status == Message.Status.DRAFT:
        return
    if message.content or message.reasoning:
        yield of_message(message, conversation) | ({"reflection": True} if reflects else {})
    for card in step.cards():
        yield of_call(card, message, conversation)


def of_message(message: Message, conversation: Conversation) -> Entry:
    entry: Entry = {
        "kind": "message",
        "role": message.role,
        "who": speaker(message, conversation),
        "text": message.content,
        "at": stamp(message.created_at),
    }
    if message.reasoning:
        entry["reasoning"] = message.reasoning
    if message.images:
        entry["images"] = message.images
    if message.status != Message.Status.COMPLETE:
        entry["status"] = message.status
    return entry


def speaker(message: Message, conversation: Conversation) -> str:
    """Whose message it is."""
    agent = conversation.agent
    if message.role == Message.Role.ASSISTANT:
        return agent.name
    if message.role == Message.Role.SYSTEM:
        return "System"
    return message.said_by or agent.owner.get_username()


def of_call(card: Card, message: Message, conversation: Conversation) -> Entry:
    """A tool call; one of `send_message` is what the agent said by it."""
    call, answer = card.call, card.answer
    if call.name == "send_message" and answer and not answer.is_error:
        text = str(arguments_of(call.arguments).get("message", ""))
        at = stamp(answer.created_at)
        said = {"kind": "message", "role": "assistant", "who": conversation.agent.name}
        return said | {"text": text, "at": at}
    entry: Entry = {
        "kind": "tool_call",
        "name": call.name,
        "arguments": call.pretty(),
        "at": stamp((answer or message).created_at),
    }
    if answer:
        entry |= {"returned": answer.content, "failed": answer.is_error}
    if card.edits:
        entry["changes"] = [of_edit(edit) for edit in card.edits]
    return entry


def of_edit(edit: BlockEdit) -> Entry:
    """What a call changed in a block."""
    return {
        "block": edit.block.label,
        "version": edit.version,
        "before": edit.before,
        "after": edit.after,
    }


def of_compaction(compaction: Compaction) -> Entry:
    return {
        "kind": "compaction",
        "summary": compaction.summary,
        "tokens_before": compaction.tokens_before,
        "tokens_after": compaction.tokens_after,
        "at": stamp(compaction.created_at),
    }
