"""Compaction: when the window fills, the oldest exchanges leave it and a summary stands for them.

Nothing is deleted: what left stays in recall memory. The summary is recursive: each tells what the
one before it told, and what left since.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from agents.context import Context
from agents.history import Sent, dumps
from agents.llm import Endpoint, ModelCall, ModelError
from agents.models import Agent, Compaction, Event, Message, Run
from agents.models.compaction import LONGEST_SUMMARY

FULL = 0.85  # of the window: past it, old exchanges leave
ROOMY = 0.40  # of the window: so much stays at most, unless the last exchange is larger
CHUNK = 0.6  # of the window: so much is summarised at once
MOST_CHUNKS = 20  # model calls for one summary; what is older than that gets excerpts
LOOK_SECONDS = 0.2
RETRY_AFTER = timedelta(minutes=1)
EXCERPT = 160  # characters of a message in a mechanical summary
LONGEST_MECHANICAL = 4000  # characters
LONGEST_SAID = 4000  # characters of one message that the model is given to summarise

Author = Compaction.Author

INSTRUCTIONS = (
    "You summarise a conversation between a person and an agent. What you are given is about to"
    " leave the agent's view, and your summary will stand for it. Keep what later answers may"
    " depend on: facts and names, decisions, promises, open questions, what the person wants and"
    " how they feel about it. Where there is an earlier summary, take over what still matters of"
    " it. Write plain sentences, at most 300 words, and nothing besides the summary."
)


def is_full(context: Context) -> bool:
    """Whether old exchanges should leave."""
    return context.tokens() > FULL * context.window


def leaving(context: Context, *, all_but_last: bool = False) -> list[Sent]:
    """The oldest whole exchanges whose leaving makes the context roomy; the last never leaves."""
    size, count = context.size, 0
    roomy = ROOMY * context.window * context.bytes_per_token
    for index, sent in enumerate(context.history):
        if index and sent.begins:
            count = index
            if size <= roomy and not all_but_last:
                break
        size -= sent.size
    return list(context.history[:count])


def compact(
    run: Run, context: Context, endpoint: Endpoint, model: str, *, all_but_last: bool = False
) -> Compaction | None:
    """Summarise the oldest exchanges and let them leave; None if there is only the last.

    RunStopped or RunLost where the run does not go on; no failure of the model stops it.
    """
    agent = run.agent
    gone = leaving(context, all_but_last=all_but_last)
    if not gone:
        return None
    run.doing("Summarising older messages")
    first, last = gone[0].number, gone[-1].number
    messages = Message.objects.filter(agent=agent, number__range=(first, last), aside=False)
    summary, author, error = summarise(run, context, endpoint, model, context.summary, messages)
    after = context.size - sum(sent.size for sent in gone)
    after += len(summary.encode()) - len(context.summary.encode())
    with transaction.atomic():
        run.go_on("Thinking")
        compaction = Compaction.objects.create(
            agent=agent,
            run=run,
            first=first,
            last=last,
            tokens_before=context.tokens(),
            tokens_after=context.tokens(after),
            summary=summary,
            written_by=author,
            error=error,
        )
        agent.context_from = last + 1
        agent.save(update_fields=["context_from"])
        run.made_room.append(compaction)
        agent.record(Event.of(Event.Kind.COMPACTED, compaction=compaction, run=run))
    return compaction


def summarise(
    run: Run,
    context: Context,
    endpoint: Endpoint,
    model: str,
    summary: str,
    messages: Iterable[Message],
) -> tuple[str, str, str]:
    """A summary of an earlier one and of messages: its text, its author, and what went wrong."""
    most = int(CHUNK * context.window * context.bytes_per_token)
    chunks = list(chunked(transcript(messages), most))
    older, chunks = chunks[:-MOST_CHUNKS], chunks[-MOST_CHUNKS:]
    if older:
        summary = mechanical(summary, [line for chunk in older for line in chunk])
    try:
        for chunk in chunks:
            summary = ask(run, endpoint, model, summary, chunk)
    except ModelError as error:
        return mechanical(context.summary, transcript(messages)), Author.MECHANICAL, str(error)
    return summary, Author.MODEL, ""


def ask(run: Run, endpoint: Endpoint, model: str, summary: str, lines: list[str]) -> str:
    """One call of the model; ModelError where it gives no summary."""
    earlier = f"Earlier summary:\n{summary}\n\n" if summary else ""
    asked = f"{earlier}The conversation:\n" + "\n".join(lines)
    body = {
        "model": model,
        "stream": True,
        "messages": [
            {"role": "system", "content": INSTRUCTIONS},
            {"role": "user", "content": asked},
        ],
    }
    call = ModelCall(endpoint, dumps(body).encode())
    try:
        while call.wait(LOOK_SECONDS) is not None:
            run.go_on()
    finally:
        call.close()
    told = call.answer.content.strip()
    if not told:
        raise ModelError(f"{endpoint} gave no summary.")
    return told[:LONGEST_SUMMARY]


def again(run: Run, context: Context, endpoint: Endpoint, model: str) -> bool:
    """Ask once more for a summary for which excerpts stand in; whether there is a new one."""
    compaction = Compaction.newest(run.agent)
    if compaction is None or compaction.written_by != Author.MECHANICAL:
        return False
    if timezone.now() - compaction.tried_at < RETRY_AFTER:
        return False
    before = compaction.previous()
    summary, author, error = summarise(
        run,
        context,
        endpoint,
        model,
        before.summary if before else "",
        compaction.messages().filter(aside=False),
    )
    if author == Author.MECHANICAL:
        Compaction.objects.filter(pk=compaction.pk).update(tried_at=timezone.now(), error=error)
        return False
    compaction.rewrite(summary, author)
    return True


# -- what is summarised ----------------------------------------------------------------------------


def transcript(messages: Iterable[Message]) -> Iterator[str]:
    """Messages as lines of a conversation."""
    who = {"user": "Person", "assistant": "Agent", "tool": "Tool returned", "system": "System"}
    for message in messages:
        if message.status not in (Message.Status.COMPLETE, Message.Status.STOPPED):
            continue
        if message.content.strip():
            yield f"{who[message.role]}: {cut(message.content.strip(), LONGEST_SAID)}"
        for call in message.calls():
            yield f"Agent called {call.name}: {cut(call.arguments, LONGEST_SAID)}"


def chunked(lines: Iterable[str], most: int) -> Iterator[list[str]]:
    """Lines in lots of at most so many bytes, a longer line alone."""
    lot: list[str] = []
    size = 0
    for line in lines:
        long = len(line.encode())
        if lot and size + long > most:
            yield lot
            lot, size = [], 0
        lot.append(line)
        size += long
    if lot:
        yield lot


def mechanical(summary: str, lines: Iterable[str]) -> str:
    """A summary without a model: the beginnings of what was said, the newest if it is long."""
    excerpts = [cut(" ".join(line.split()), EXCERPT) for line in lines]
    kept: list[str] = []
    left = LONGEST_MECHANICAL - min(len(summary), LONGEST_MECHANICAL // 2)
    for excerpt in reversed(excerpts):
        left -= len(excerpt) + 1
        if left < 0:
            kept.append(f"({len(excerpts) - len(kept):,} older lines are not told here.)")
            break
        kept.append(excerpt)
    earlier = [cut(summary, LONGEST_MECHANICAL // 2)] if summary else []
    return "\n".join([*earlier, *reversed(kept)])


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def too_large(agent: Agent, context: Context) -> str:
    """Why a context cannot be sent at all, and what to shorten; "" if it can."""
    if context.tokens(context.fixed) <= context.window:
        return ""
    sizes = {f"block '{block.label}'": len(block.value) for block in context.blocks}
    sizes["the system prompt"] = len(agent.system_prompt)
    largest = max(sizes, key=lambda name: sizes[name])
    return (
        f"The system prompt, core memory and tools alone are about"
        f" {context.tokens(context.fixed):,} tokens, and the model's context window has"
        f" {context.window:,}. Shorten {largest} ({sizes[largest]:,} characters), or choose a model"
        " with a larger window in the agent's settings."
    )
