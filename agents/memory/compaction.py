"""Compaction: when the window fills, the oldest exchanges leave it and a summary stands for them.

Nothing is deleted: what left stays in recall memory. The summary is recursive: each tells what the
one before it told, and what left since.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from agents.llm import Endpoint, ModelCall, ModelError, facts, resolve
from agents.llm.rendering import Sent, dumps
from agents.llm.spending import ANSWER_TOKENS, Spending
from agents.models import Agent, Compaction, Event, Message, Run, Usage
from agents.text.excerpts import cut, sampled, shortened
from agents.text.stored import stored as _

from .context import Context

FULL = 0.85  # of the window: past it, old exchanges leave
ROOMY = 0.40  # of the window: so much stays at most, unless the last exchange is larger
CHUNK = 0.6  # of the window: so much is summarised at once
MOST_CHUNKS = 20  # model calls for one summary; what is older than that gets excerpts
LOOK_SECONDS = 0.2
MOST_WORDS, LEAST_WORDS = 300, 40  # of a summary, as the model is told
ANSWER_SHARE = 0.25  # of the window: the limit of an answer, so that no model goes on for ever
LEAST_ANSWER = 1024  # tokens
RETRY_AFTER = timedelta(minutes=1)
EXCERPT = 160  # characters of a message in a mechanical summary
LONGEST_MECHANICAL = 4000  # characters
LONGEST_SAID = 4000  # characters of one message that the model is given to summarise

Author = Compaction.Author

NO_SUMMARY = _("%(endpoint)s returned no summary.")
BLOCK_TOO_LARGE = _(
    "The system prompt, core memory and tools alone are about %(tokens)s tokens, and the model's"
    " context window has %(window)s. Shorten block '%(label)s' (%(count)s characters), or choose a"
    " model with a larger window in the agent's settings."
)
PROMPT_TOO_LARGE = _(
    "The system prompt, core memory and tools alone are about %(tokens)s tokens, and the model's"
    " context window has %(window)s. Shorten the system prompt (%(count)s characters), or choose a"
    " model with a larger window in the agent's settings."
)
INSTRUCTIONS = (
    "You summarise a conversation between a person and an agent. What you are given is about to"
    " leave the agent's view, and your summary will stand for it. Keep what later answers may"
    " depend on: facts and names, decisions, promises, open questions, what the person wants and"
    " how they feel about it. Where there is an earlier summary, take over what still matters of"
    " it. Write plain sentences, at most {words} words, and nothing besides the summary."
)


def is_full(context: Context) -> bool:
    """Whether old exchanges should leave."""
    return context.tokens() > FULL * context.window


def leaving(
    context: Context, *, all_but_last: bool = False, steps: bool = True, stays: float = ROOMY
) -> list[Sent]:
    """The oldest whole exchanges whose leaving makes the context roomy; the last never leaves.

    `stays` is the share of the window that may stay. Where there is only the last, its oldest
    `steps` leave, and the newest stays: a run of many steps may fill a window by itself.
    """
    history = context.history
    later = [place for place, sent in enumerate(history) if sent.first > history[0].first]
    begins = [place for place in later if history[place].begins]
    if steps and not begins:
        begins = [place for place in later if history[place].steps]
    size, count, place = context.size, 0, 0
    roomy = stays * context.window * context.bytes_per_token
    for count in begins:
        size -= context.weight(history[place:count])
        place = count
        if size <= roomy and not all_but_last:
            break
    return list(history[:count])


def compact(
    run: Run, context: Context, endpoint: Endpoint, model: str, *, all_but_last: bool = False
) -> Compaction | None:
    """Summarise the oldest exchanges and let them leave; None if there is only the last.

    RunStopped or RunLost where the run does not go on; no failure of the model stops it.
    """
    wanted = run.agent.compaction_settings
    gone = leaving(
        context,
        all_but_last=all_but_last or wanted.get("mode") == "all",
        steps=run.internal_id is None,
        stays=wanted.get("sliding_window_percentage", ROOMY),
    )
    if not gone:
        return None
    run.announce(_("Summarising older messages"))
    first, last = gone[0].first, context.history[len(gone)].first - 1
    conversation = run.conversation
    messages = conversation.messages.filter(
        number__range=(first, last), internal=False, left_out=None
    )
    summary, author, error = summarise(run, context, endpoint, model, context.summary, messages)
    after = context.size - context.weight(gone)
    after += len(summary.encode()) - len(context.summary.encode())
    with transaction.atomic():
        run.renew_or_stop(_("Thinking"))
        compaction = Compaction.objects.create(
            conversation=conversation,
            run=run,
            first=first,
            last=last,
            tokens_before=context.tokens(),
            tokens_after=context.tokens(after),
            summary=summary,
            written_by=author,
            error=error,
        )
        conversation.context_from = last + 1
        run.record(Event.of(Event.Kind.COMPACTED, compaction=compaction, run=run))
        conversation.save(update_fields=["context_from"])  # with the agent's row held
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
    most, longest = int(CHUNK * context.window * context.bytes_per_token), context.longest_summary
    chunks = list(chunked(transcript(messages), most))
    older, chunks = chunks[:-MOST_CHUNKS], chunks[-MOST_CHUNKS:]
    if older:
        summary = mechanical(summary, [line for chunk in older for line in chunk], longest)
    try:
        if chosen := run.agent.compaction_settings.get("model"):
            endpoint, model = resolve(chosen, run.agent.owner_id)
        for chunk in chunks:
            summary = ask(run, endpoint, model, summary, chunk, context)
    except ModelError as error:
        lines = list(transcript(messages))
        return mechanical(context.summary, lines, longest), Author.MECHANICAL, str(error)
    return summary, Author.MODEL, ""


def ask(
    run: Run, endpoint: Endpoint, model: str, summary: str, lines: list[str], context: Context
) -> str:
    """One call of the model; ModelError where it gives no summary."""
    earlier = f"Earlier summary:\n{summary}\n\n" if summary else ""
    request = f"{earlier}The conversation:\n" + "\n".join(lines)
    words = max(min(MOST_WORDS, context.longest_summary // 8), LEAST_WORDS)
    prompt = run.agent.compaction_settings.get("prompt") or INSTRUCTIONS.format(words=words)
    limit = max(int(ANSWER_SHARE * context.window), LEAST_ANSWER)
    body = {
        "model": model,
        "stream": True,
        facts.dialect_of(endpoint, model).limit: limit,
        "messages": [
            {"role": "system", "content": prompt},
            {"role": "user", "content": request},
        ],
    }
    sent, kind = dumps(body).encode(), Usage.Kind.COMPACTION
    spending = Spending.of_run(run, endpoint, model, kind)
    with spending.reserved(context.tokens(len(sent)), min(limit, ANSWER_TOKENS)):
        call = ModelCall(spending, sent)
        try:
            while call.wait(LOOK_SECONDS) is not None:
                run.renew_or_stop()
        finally:
            call.close()
    summary = call.answer.content.strip()
    if not summary:
        raise ModelError(NO_SUMMARY % {"endpoint": endpoint})
    return shortened(summary, context.longest_summary)


def summarise_again(run: Run, context: Context, endpoint: Endpoint, model: str) -> bool:
    """Ask once more for a summary for which excerpts stand in; whether there is a new one."""
    compaction = Compaction.newest(run.conversation)
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
        compaction.messages().filter(internal=False),
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
        if words := message.words.strip():
            yield f"{who[message.role]}: {cut(words, LONGEST_SAID)}"
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


def mechanical(summary: str, lines: Sequence[str], longest: int) -> str:
    """A summary without a model: what the earlier one says, and lines from all that left."""
    most = min(LONGEST_MECHANICAL, longest)
    earlier = shortened(summary, most // 2)
    return "\n".join(filter(None, [earlier, sampled(lines, most - len(earlier), EXCERPT)]))


def too_large(agent: Agent, context: Context) -> str:
    """Why a context cannot be sent at all, and what to shorten; "" if it can."""
    if context.tokens(context.fixed) <= context.window:
        return ""
    sizes = {block.label: len(block.value) for block in context.blocks}
    largest = max(sizes, key=lambda label: sizes[label], default="")
    prompt = len(agent.system_prompt)
    is_block = sizes.get(largest, -1) >= prompt
    return (BLOCK_TOO_LARGE if is_block else PROMPT_TOO_LARGE) % {
        "tokens": f"{context.tokens(context.fixed):,}",
        "window": f"{context.window:,}",
        "label": largest,
        "count": f"{sizes[largest] if is_block else prompt:,}",
    }
