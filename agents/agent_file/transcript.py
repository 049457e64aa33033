"""Runs and steps: what a transcript is drawn from, and a file of Letta's has none of."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext

from agents.memory.context import BYTES_PER_TOKEN
from agents.models import Agent, Compaction, Conversation, Image, Message, Run, Step
from agents.models.compaction import LONGEST_SUMMARY
from agents.models.image import with_marks
from agents.models.model_settings import problem
from agents.models.step import checked_feedback
from agents.text.excerpts import first_words
from agents.text.numbers import whole

from .conversation import History, Line
from .entries import COMPACTION, CONVERSATION, RUN, STEP
from .reading import AgentFileError, Entry, Notes
from .rows import BATCH, store

ENDED = {Run.Status.DONE, Run.Status.STOPPED, Run.Status.FAILED}
STEP_ENDED = {Step.Status.DONE, Step.Status.STOPPED, Step.Status.FAILED}


@dataclass
class Transcript:
    """Rows on their way into the database; `run_of` has the place of each step's run.

    The first of the conversations is the agent's first one.
    """

    conversations: list[Conversation] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    run_of: list[int] = field(default_factory=list)
    compactions: list[Compaction] = field(default_factory=list)

    def store(self, agent: Agent, lines: list[Line]) -> None:
        """Store them in batches, with the agent's messages. A file has no requests of steps."""
        self.conversations[0].pk = agent.pk
        for conversation in self.conversations:
            conversation.agent = agent
        store(self.conversations)
        for place, run in enumerate(self.runs):
            run.agent, run.key = agent, f"import-{place}"
            run.conversation = run.conversation  # which has its key only now
        store(self.runs)
        for step, place in zip(self.steps, self.run_of, strict=True):
            step.run = self.runs[place]
        store(self.steps)
        images = {image.sha256: image for line in lines for image in line.images}
        Image.check_room(agent.owner_id, sum(image.size for image in images.values()))
        for image in images.values():
            image.agent, image.is_named = agent, True
            store([image])
        for start in range(0, len(lines), BATCH):
            some = enumerate(lines[start : start + BATCH], start + 1)
            store([self._message(agent, number, line) for number, line in some])
        for compaction in self.compactions:
            compaction.run = compaction.run  # likewise
            compaction.conversation = compaction.run.conversation
        store(self.compactions)

    def _message(self, agent: Agent, number: int, line: Line) -> Message:
        run = None if line.run is None else self.runs[line.run]
        return Message(
            agent=agent,
            conversation=run.conversation if run else self.conversations[0],
            run=run,
            step=None if line.step is None else self.steps[line.step],
            number=number,
            role=line.role,
            status=line.status,
            sender_id=line.sender_id,
            content=line.content,
            images=[image.part() for image in line.images],
            reasoning=line.reasoning,
            tool_calls=line.calls,
            tool_call_id=line.call_id,
            internal=line.internal,
            is_error=line.is_error,
            stdout=line.stdout,
            duration_ms=line.duration_ms,
            left_out=line.left_out,
            created_at=line.at,
        )


# -- made of the messages ----------------------------------------------------------------------


def deduce_runs(found: History, notes: Notes) -> Transcript:
    """A run for each message of the person, a step for each of the assistant."""
    made = Transcript()
    before: datetime | None = None
    for line in found.lines:
        if line.role == Message.Role.USER or not made.runs:
            text = line.content if line.role == Message.Role.USER else ""
            made.runs.append(run_at(line.at, text))
            made.runs[-1].images = [image.part() for image in line.images]
            before = None
        run, line.run = made.runs[-1], len(made.runs) - 1
        run.finished_at = max(run.finished_at or line.at, line.at)
        if line.role == Message.Role.ASSISTANT:
            begun(made, line, before)
            run.status = Run.Status.DONE
            run.reason = Run.Reason.ANSWERED if run.words else Run.Reason.GIVEN
        elif line.role == Message.Role.TOOL:
            line.step = len(made.steps) - 1
            step = made.steps[-1]
            step.finished_at = max(step.finished_at or line.at, line.at)
        before = line.at
    if found.summary:
        made.compactions.append(summarised(made, found, notes))
    said = [line for line in found.lines if line.role == Message.Role.USER]
    made.conversations.append(
        Conversation(
            title=first_words(with_marks(said[0].content, said[0].images)) if said else "",
            context_from=found.context_from,
            last_message_at=said[-1].at if said else None,
        )
    )
    for run in made.runs:
        run.conversation = made.conversations[0]
    return made


def run_at(at: datetime, text: str) -> Run:
    """A run that began then, and of which nobody knows yet that it was answered."""
    return Run(
        text=text,
        status=Run.Status.STOPPED,
        reason=Run.Reason.CANCELLED,
        created_at=at,
        started_at=at,
    )


def begun(made: Transcript, line: Line, before: datetime | None) -> None:
    """The step in which an assistant's message was said."""
    run = len(made.runs) - 1
    line.step = len(made.steps)
    number = made.steps[-1].number + 1 if made.run_of[-1:] == [run] else 1
    made.run_of.append(run)
    made.steps.append(
        Step(
            number=number,
            status=Step.Status.DONE,
            model=line.model,
            request={},
            started_at=min(before or line.at, line.at),
            finished_at=line.at,
        )
    )


def summarised(made: Transcript, found: History, notes: Notes) -> Compaction:
    """The compaction that left the summary; it stands in the run that came after it."""
    at = found.summary_at or timezone.now()
    if not made.runs:
        made.runs.append(run_at(at, ""))
    found.context_from = found.context_from or 1  # a summary is sent with a context that has one
    first = found.lines[found.context_from - 1 : found.context_from]
    place = first[0].run if first and first[0].run is not None else len(made.runs) - 1
    if len(found.summary) > LONGEST_SUMMARY:
        words = gettext("The summary had %(count)s characters; the first %(most)s were imported.")
        notes.add(words % {"count": whole(len(found.summary)), "most": whole(LONGEST_SUMMARY)})
    size = [len(line.content.encode()) for line in found.lines]
    return Compaction(
        run=made.runs[place],
        first=min(1, found.context_from - 1),
        last=found.context_from - 1,
        tokens_before=round(sum(size) / BYTES_PER_TOKEN),
        tokens_after=round(sum(size[found.context_from - 1 :]) / BYTES_PER_TOKEN),
        summary=found.summary[:LONGEST_SUMMARY],
        written_by=Compaction.Author.MODEL,
        created_at=at,
        tried_at=at,
    )


# -- as this program wrote them ----------------------------------------------------------------


def restored(found: History, own: Entry) -> Transcript:
    """The runs, steps and compactions of an agent that was exported here."""
    made = Transcript()
    made.conversations = [conversation_of(each) for each in own.entries("conversations")]
    if not made.conversations:
        made.conversations = [Conversation(context_from=found.context_from)]
    for each in own.entries("runs"):
        made.runs.append(run_of(each, made.conversations))
        for number, step in enumerate(each.entries("steps"), 1):
            made.run_of.append(len(made.runs) - 1)
            made.steps.append(step_of(step, number))
    for line in found.lines:
        check(line, made)
    for each in own.entries("compactions"):
        made.compactions.append(compaction_of(each, made.runs))
    for compaction in made.compactions:
        conversation = compaction.run.conversation
        conversation.context_from = conversation.context_from or 1
    return made


def check(line: Line, made: Transcript) -> None:
    """AgentFileError where a message names a run or step that is not there, or no step of it."""
    if line.run is not None and line.run >= len(made.runs):
        words = gettext("'%(message)s' is of run %(run)s; there are %(count)s.")
        names = {"message": line.id, "run": whole(line.run), "count": whole(len(made.runs))}
        raise AgentFileError(words % names)
    if line.step is not None and (
        line.step >= len(made.steps) or made.run_of[line.step] != line.run
    ):
        words = gettext("'%(message)s' is of step %(step)s, which its run does not have.")
        raise AgentFileError(words % {"message": line.id, "step": whole(line.step)})


def conversation_of(each: Entry) -> Conversation:
    others = ("hidden", "model_settings")
    fields = each.fields(Conversation, *(name for name in CONVERSATION if name not in others))
    settings = each.get("model_settings", dict, {})
    conversation = Conversation(
        hidden=each.get("hidden", bool, False),
        model_settings={name: it for name, it in settings.items() if not problem(name, it)},
        **fields,
    )
    conversation.created_at = conversation.created_at or timezone.now()
    return conversation


def out_of_range(place: int, count: int) -> str:
    words = gettext("is %(place)s; there are %(count)s, counted from 0")
    return words % {"place": place, "count": whole(count)}


def run_of(each: Entry, conversations: list[Conversation]) -> Run:
    ended = each.get("status", str) in ENDED
    end = {} if ended else {"status": Run.Status.STOPPED, "reason": Run.Reason.CANCELLED}
    run = Run(**each.fields(Run, *(name for name in RUN if name not in end)), **end)
    run.role = each.choice("role", Message.Role.values)
    place = each.get("conversation", int, 0)
    if not 0 <= place < len(conversations):
        raise each.wrong("conversation", out_of_range(place, len(conversations)))
    run.conversation = conversations[place]
    run.created_at = run.created_at or timezone.now()
    run.started_at = run.started_at or run.created_at
    run.finished_at = run.finished_at or run.started_at
    return run


def step_of(each: Entry, number: int) -> Step:
    end = {} if each.get("status", str) in STEP_ENDED else {"status": Step.Status.STOPPED}
    values = each.fields(Step, *(name for name in STEP if name not in {*end, "feedback"}))
    step = Step(number=number, request={}, **values, **end)
    step.feedback = feedback_of(each)
    step.started_at = step.started_at or timezone.now()
    step.finished_at = step.finished_at or step.started_at
    return step


def feedback_of(each: Entry) -> dict[str, Any]:
    """What a person thought of a step."""
    given = each.entry("feedback")
    verdict = given.get("verdict", str, None)
    try:
        return checked_feedback(verdict, given.texts("tags") if verdict else ())
    except ValidationError as error:
        raise each.wrong("feedback", error.messages[0]) from None


def compaction_of(each: Entry, runs: list[Run]) -> Compaction:
    run = each.get("run", int)
    if not 0 <= run < len(runs):
        raise each.wrong("run", out_of_range(run, len(runs)))
    each.text("summary", LONGEST_SUMMARY)  # the column itself holds more
    compaction = Compaction(run=runs[run], **each.fields(Compaction, *COMPACTION))
    compaction.created_at = compaction.created_at or timezone.now()
    compaction.tried_at = compaction.tried_at or compaction.created_at
    return compaction
