"""The loop. There is only this one: browser or script, MemGPT style or plain.

A run is a row, and so is all it did: whoever executes it looks at what is stored and goes on from
there. A tool call without a return has not run; one with a return has.
"""

from __future__ import annotations

import logging
import time
from functools import partial

from django.db import transaction
from django.utils import timezone

from agents import requests, tools
from agents.compaction import again, compact, is_full, too_large
from agents.context import Context, compile_context
from agents.llm import Answer, Delta, Endpoint, ModelCall, ModelError, resolve
from agents.llm.windows import window_of
from agents.models import Agent, Event, Message, Run, Step
from agents.models.event import forget_texts
from agents.models.lease import RunLost, RunStopped
from agents.models.message import Said
from agents.models.statements import find, insert, update
from agents.tool_calls import Return, answer_call, call_tools, end_turn

logger = logging.getLogger(__name__)

RETRIES = 2
RETRY_SECONDS = 1.0  # where the endpoint does not say how long to wait; doubled each time
LOOK_SECONDS = 0.2  # how often a silent call looks whether somebody pressed Stop
FLUSH_SECONDS = 0.05  # how long pieces of text are gathered

Kind = Event.Kind
Reason = Run.Reason


def run_agent(run_id: int) -> None:
    """Execute a run until it ends: a step, its tool calls, the next step."""
    run = find(Run, run_id)
    agent = find(Agent, run.agent_id) if run else None
    if run is None or agent is None or run.status != Run.Status.RUNNING:
        return
    run.agent = agent
    try:
        run.take()
        if run.kind == Run.Kind.COMPACTION:
            make_room(run)
            return
        step, failures = left_behind(run, "The server stopped while the model was answering."), 0
        while run.status == Run.Status.RUNNING:
            try:
                step = step or take_step(run)
                call_tools(run, step)
                step, failures = None, 0
            except ModelError as error:
                failures += 1
                step = None
                wait_or_fail(run, error, failures)
    except RunStopped:
        stop(run)
    except ModelError as error:
        fail(run, str(error))
    except RunLost:
        logger.info("Run %s is executed elsewhere, or was deleted.", run_id)
    except Exception as error:
        logger.exception("Run %s failed.", run_id)
        words = f"memoryweb itself failed ({type(error).__name__}); the server's log says where."
        run.refresh_from_db()
        left_behind(run, words)
        fail(run, words)


# -- a step ----------------------------------------------------------------------------------------


def take_step(run: Run) -> Step:
    """One model call, its message stored as it streams. ModelError or RunStopped where it fails."""
    if run.taken:  # for the first step it was read just now
        run.agent = find(Agent, run.agent_id) or run.agent
    agent = run.agent
    endpoint, model = resolve(agent.model)
    context = fitting_context(run, endpoint, model)
    body = context.body(model)
    step, message = begin_step(run, endpoint, model, context, body)
    call = ModelCall(endpoint, body)
    try:
        stream(run, message, call)
        complete(run, step, message, call.answer)
    except RunStopped:
        keep_partial(run, step, message, call.answer, Step.Status.STOPPED)
        raise
    except ModelError as error:
        keep_partial(run, step, message, call.answer, Step.Status.FAILED, str(error))
        if error.too_long and compact(run, context, endpoint, model, all_but_last=True):
            error.retry = True
        raise
    finally:
        call.close()
    return step


def make_room(run: Run) -> None:
    """Compact as far as it goes, because a person asked for it."""
    if not run.made_room:  # else it was interrupted right after
        endpoint, model = resolve(run.agent.model)
        context = compile_context(run.agent, window_of(endpoint, model))
        compact(run, context, endpoint, model, all_but_last=True)
    with transaction.atomic():
        run.go_on()
        run.end(Reason.COMPACTED if run.made_room else Reason.NO_ROOM)


def fitting_context(run: Run, endpoint: Endpoint, model: str) -> Context:
    """What the model is sent: compacted where it nears the window. ModelError if it cannot fit."""
    agent = run.agent
    window, offered = window_of(endpoint, model), tools.offered(run)
    compiled = partial(compile_context, agent, window, run.aside, offered, run.speaks_by_tool)
    context = compiled()
    if not run.taken and again(run, context, endpoint, model):
        context = compiled()
    if is_full(context):
        if error := too_large(agent, context):
            raise ModelError(error)
        if compact(run, context, endpoint, model):
            context = compiled()
    return context


@transaction.atomic
def begin_step(
    run: Run, endpoint: Endpoint, model: str, context: Context, body: bytes
) -> tuple[Step, Message]:
    """The step's row and an empty draft of what the model is about to say."""
    run.go_on("Thinking")
    step = Step(
        run=run,
        number=run.taken[-1].number + 1 if run.taken else 1,
        model=model,
        endpoint=str(endpoint),
        context_tokens=context.tokens(),
        window=context.window,
        **requests.kept(run.agent, context, body, run.aside),
    )
    insert(step)
    message = Message(
        agent=run.agent,
        run=run,
        step=step,
        role=Message.Role.ASSISTANT,
        status=Message.Status.DRAFT,
        aside=run.aside is not None,
        number=run.agent.record(Event.of(Kind.STEP_BEGAN, step=step), messages=1),
    )
    insert(message)
    message.so_far = Said("", "")
    step.said, step.edits, step.asked = [message], [], []
    run.taken.append(step)
    return step, message


def stream(run: Run, message: Message, call: ModelCall) -> None:
    """Put the pieces of an answer into the log as they come: the first at once, then gathered."""
    flushed = 0.0
    first = True
    while (deltas := call.wait(LOOK_SECONDS, until=flushed + FLUSH_SECONDS)) is not None:
        if deltas:
            say(run, message, deltas, first=first)
            flushed, first = time.monotonic(), False
        else:
            run.go_on()


@transaction.atomic
def say(run: Run, message: Message, deltas: list[Delta], *, first: bool) -> None:
    """Record pieces of a draft, neighbours of one field as one event."""
    run.go_on("Writing" if first else None)
    events: list[Event] = []
    for delta in deltas:
        if events and events[-1].data["field"] == delta.field:
            events[-1].data["text"] += delta.text
            continue
        data = {"message": message.pk, "field": delta.field, "text": delta.text}
        events.append(Event(kind=Kind.TEXT, draft=message, data=data))
    if first:
        events[0].data["first"] = True
        events[0].rows = {"run": run}
    run.agent.record(*events)


@transaction.atomic
def complete(run: Run, step: Step, message: Message, answer: Answer) -> None:
    """The message in its final form; the run ends here if it calls no tool."""
    calls = answer.tool_calls()
    run.go_on(f"Calling {calls[0].name}" if calls else None)
    settle(message, answer, Message.Status.COMPLETE)
    message.tool_calls = [call._asdict() for call in calls]
    update(message, "content", "reasoning", "tool_calls", "status")
    step.prompt_tokens, step.completion_tokens = answer.prompt_tokens, answer.completion_tokens
    run.agent.learn_size(step.context_bytes, answer.prompt_tokens)
    if calls:
        step.status = Step.Status.CALLING
        step.store()
        run.agent.record(step.changed())
        return
    cut = {"length": "cut off at the model's output limit", "content_filter": "cut off by a filter"}
    end_turn(run, step, cut.get(answer.finish, "answered"), Reason.ANSWERED)


def settle(message: Message, answer: Answer, status: str) -> None:
    """Take an answer into its message; the pieces in the log are done with."""
    message.content, message.reasoning = answer.content, answer.reasoning
    message.status = status
    forget_texts(message)


@transaction.atomic
def keep_partial(
    run: Run, step: Step, message: Message, answer: Answer, status: str, error: str = ""
) -> None:
    """Keep what a model had said before it was stopped or broke off, marked as such."""
    run.hold()
    stopped = status == Step.Status.STOPPED and answer.content.strip()
    settle(message, answer, Message.Status.STOPPED if stopped else Message.Status.BROKEN)
    update(message, "content", "reasoning", "status")
    step.status, step.error, step.finished_at = status, error, timezone.now()
    step.store()
    run.agent.record(step.changed())


# -- what goes wrong -------------------------------------------------------------------------------


def left_behind(run: Run, error: str) -> Step | None:
    """What broke off in the middle: a draft is put aside, a step with tool calls can go on."""
    step = run.taken[-1] if run.taken else None
    if step is None or step.status not in (Step.Status.STREAMING, Step.Status.CALLING):
        return None
    if step.status == Step.Status.CALLING:
        return step
    message = step.message
    assert message is not None
    keep_partial(run, step, message, Answer(*message.so_far), Step.Status.FAILED, error)
    return None


def wait_or_fail(run: Run, error: ModelError, failures: int) -> None:
    """Wait before the model is asked again, or end the run with the reason."""
    if not error.retry or failures > RETRIES:
        fail(run, str(error))
        return
    seconds = error.retry_after
    if seconds is None:
        seconds = RETRY_SECONDS * 2 ** (failures - 1)
    run.doing(f"{error} Trying again in {seconds:,.0f} s ({failures} of {RETRIES})")
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(LOOK_SECONDS, left))
        run.go_on()


def stop(run: Run) -> None:
    """End a run because a person stopped it; calls that have not run get a return that says so."""
    try:
        with transaction.atomic():
            run.hold()
            step = run.taken[-1] if run.taken else None
            if step and step.status == Step.Status.CALLING:
                for call in step.unanswered():
                    content = "Error: not run, because the person stopped the agent."
                    answer_call(run, step, call, Return(content, failed=True), None)
                step.status, step.finished_at = Step.Status.STOPPED, timezone.now()
                step.store()
            run.end(Reason.CANCELLED)
    except RunLost:
        logger.info("Run %s was stopped elsewhere.", run.pk)


def fail(run: Run, error: str) -> None:
    """End a run with an error, in a sentence."""
    try:
        with transaction.atomic():
            run.hold()
            run.end(Reason.ERROR, error)
    except RunLost:
        logger.info("Run %s failed, and is executed elsewhere.", run.pk)
