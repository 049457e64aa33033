"""What is done with an import in the background: read, made into passages, undone.

One conversation is one transaction, and what is done is noted in it. So it goes on after a crash
where it was, and a worker that lost it writes nothing more.
"""

from __future__ import annotations

import logging
from collections import Counter
from datetime import datetime, timedelta

from django.core.exceptions import ValidationError
from django.db import close_old_connections, connection
from django.utils import timezone

from agents.agent_file.rows import batch, store_at_once
from agents.models import Conversation, Editor, Event, Message, Passage, Run
from agents.models.background_job import MOST_TRIES, JobLost
from agents.models.history_import import HistoryImport, ImportedConversation
from agents.models.leaving import is_leaving
from agents.models.stored_bytes import StorageFull, check_storage
from agents.text.excerpts import first_words
from agents.text.stored import stored as _
from agents.text.stored import stored_plural

from .formats import Spoken, Talk, talk_of
from .source import Found, TooLarge, Unreadable, conversations_in

logger = logging.getLogger(__name__)
ONLY_FIRST = stored_plural(
    "Only the first %(count)s conversation was imported.",
    "Only the first %(count)s conversations were imported.",
)
TOO_LARGE = _("conversations that are too large")
IS_ANSWERED = _("“%(title)s” is being answered. Stop that, then undo again.")
MOST_CONVERSATIONS = 20_000  # of one import
IN_CONTEXT = 30  # newest messages that are in the context where the conversation goes on
LONGEST_PASSAGE = 4_000  # characters
SIGN_EVERY = 50  # conversations that are passed over between two signs of life


def work() -> None:
    """Work off all imports that are due."""
    HistoryImport.objects.all().delete_unfinished()
    while not is_leaving() and (job := HistoryImport.objects.acquire()):
        do(job)


def do(job: HistoryImport) -> None:
    """Do what is to be done with one import; what goes wrong is told on its page."""
    status = HistoryImport.Status
    todo = {status.READING: read, status.STORING: store_passages, status.UNDOING: undo}
    try:
        if job.tries > MOST_TRIES:
            job.end(
                status.FAILED, _("It broke off again and again. Undo it, and try another file.")
            )
            return
        todo[status(job.status)](job)
    except JobLost:
        logger.info("Import %s goes on elsewhere, or is gone.", job.pk)
    except (Unreadable, StorageFull) as error:
        job.end(status.FAILED, str(error))
    except Exception:
        logger.exception("Import %s broke off.", job.pk)
        job.release()
    finally:
        if connection.vendor != "sqlite" and not connection.in_atomic_block:
            close_old_connections()


# -- reading ---------------------------------------------------------------------------------------


def read(job: HistoryImport) -> None:
    """Store the conversations of the file that are not stored yet."""
    for number, found in enumerate(conversations_in(job), 1):
        if number <= job.read:
            if not number % SIGN_EVERY:
                job.keep()
            continue
        if is_leaving():
            return job.release()
        if job.conversations >= MOST_CONVERSATIONS:
            raise Unreadable(ONLY_FIRST[1] % {"count": f"{MOST_CONVERSATIONS:,}"})
        take(job, number, found)
    job.end(HistoryImport.Status.DONE)


def take(job: HistoryImport, number: int, found: Found) -> None:
    """Store one conversation of the file, or note why it is left out."""
    talk = talk_of(found) if isinstance(found, dict) else None
    if talk is None:
        reason = TOO_LARGE if found is TooLarge else _("unknown entries")
        job.keep(read=number, left_out=job.leave_out(Counter([reason])), tries=0)
    elif not talk.messages:
        reasons = talk.left_out + Counter([_("conversations without messages")])
        job.keep(read=number, left_out=job.leave_out(reasons), tries=0)
    else:
        check_storage(job.agent.owner_id, sum(len(each.text.encode()) for each in talk.messages))
        with batch():
            count = len(talk.messages)
            job.keep(
                read=number,
                conversations=job.conversations + 1,
                messages=job.messages + count,
                left_out=job.leave_out(talk.left_out),
                tries=0,
            )
            store(job, number, talk)


def store(job: HistoryImport, number: int, talk: Talk) -> None:
    """Store a conversation, its messages, and what its pages are drawn from."""
    agent = job.agent = job.agent.locked()
    times = times_of(talk)
    said = next((each.text for each in talk.messages if each.role == "user"), "")
    conversation = Conversation(
        agent=agent,
        title=talk.title or first_words(said),
        description=f"Imported from {talk.source}.",
        created_at=times[0],
        last_message_at=times[-1],
    )
    changed = Event.of(Event.Kind.CONVERSATION_CHANGED, conversation=conversation)
    last = conversation.record(changed, messages=len(times))
    if len(times) > IN_CONTEXT:
        conversation.context_from = last - IN_CONTEXT + 1
    store_at_once([conversation])
    rows = []
    for run, place, spoken in with_runs(job, number, talk, times, conversation):
        row = Message(
            agent=agent,
            conversation=conversation,
            run=run,
            number=last - len(times) + 1 + place,
            role=spoken.role,
            content=spoken.text,
            created_at=times[place],
        )
        row.search = row.search_terms()
        rows.append(row)
    store_at_once(rows)
    ImportedConversation.objects.create(of=job, conversation=conversation, messages=len(rows))


def with_runs(
    job: HistoryImport, number: int, talk: Talk, times: list[datetime], conversation: Conversation
) -> list[tuple[Run, int, Spoken]]:
    """Each message with its place and its run: one for each message of the person, with what was
    answered."""
    runs: list[Run] = []
    placed: list[tuple[Run, int, Spoken]] = []
    for place, spoken in enumerate(talk.messages):
        if spoken.role == Message.Role.USER or not runs:
            run = Run(agent=conversation.agent, conversation=conversation)
            run.key, run.text = f"import-{job.pk}-{number}-{place}", spoken.text
            run.status, run.reason = Run.Status.DONE, Run.Reason.ANSWERED
            run.created_at = run.started_at = times[place]
            runs.append(run)
        runs[-1].finished_at = times[place]
        placed.append((runs[-1], place, spoken))
    store_at_once(runs)
    return placed


def times_of(talk: Talk) -> list[datetime]:
    """When each message was said; one that does not say comes right after the one before."""
    times: list[datetime] = []
    before = talk.at or next((each.at for each in talk.messages if each.at), None) or timezone.now()
    for each in talk.messages:
        before = max(before, each.at) if each.at else before + timedelta(milliseconds=1)
        times.append(before)
    return times


# -- afterwards ------------------------------------------------------------------------------------


def store_passages(job: HistoryImport) -> None:
    """Store the chosen conversations in archival memory, with their source named."""
    while job.chosen:
        if is_leaving():
            return job.release()
        key, *rest = job.chosen
        made = job.made.filter(conversation=key, passages=[]).select_related("conversation").first()
        with batch():
            job.keep(chosen=rest, tries=0)
            if made:
                made.passages = passages_of(job, made.conversation)
                made.save(update_fields=["passages"])
                job.keep(passages=job.passages + len(made.passages))
    job.end(HistoryImport.Status.DONE)


def passages_of(job: HistoryImport, conversation: Conversation) -> list[int]:
    """Store a conversation as passages; their keys."""
    agent = job.agent = job.agent.locked()
    by = Editor.person(job.user or agent.owner, Editor.IMPORT)
    lead = f"From “{conversation}”, {conversation.created_at:%-d %B %Y}."
    texts = [
        f"{message.role.capitalize()}: {message.content}"
        for message in conversation.messages.filter(role__in=("user", "assistant"))
    ]
    keys = []
    for text in packed(texts, LONGEST_PASSAGE - len(lead)):
        passage = Passage.insert(
            agent, f"{lead}\n{text}", ["imported"], by=by, created_at=conversation.created_at
        )
        keys.append(passage.pk)
    return keys


def packed(texts: list[str], most: int) -> list[str]:
    """Texts joined into pieces of at most so many characters; only a longer one is cut."""
    pieces = [text[at : at + most] for text in texts for at in range(0, len(text), most)]
    joined: list[str] = []
    for piece in pieces:
        if joined and len(joined[-1]) + len(piece) < most:
            joined[-1] += f"\n{piece}"
        else:
            joined.append(piece)
    return joined


def undo(job: HistoryImport) -> None:
    """Delete what came with the import, also what was said in its conversations since."""
    for made in job.made.select_related("conversation__agent"):
        if is_leaving():
            return job.release()
        with batch():
            job.keep(conversations=max(0, job.conversations - 1), tries=0)
            for passage in Passage.objects.filter(agent=job.agent_id, pk__in=made.passages):
                passage.remove()
            try:
                made.conversation.remove()
            except ValidationError:
                words = IS_ANSWERED % {"title": made.conversation}
                raise Unreadable(words) from None
    job.end(HistoryImport.Status.UNDONE)
