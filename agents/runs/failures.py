"""What goes wrong in a run: a model that breaks off or refuses, a person who stops it."""

from __future__ import annotations

import logging
import time

from django.db import transaction
from django.utils import timezone

from agents.llm import Answer, ModelError
from agents.llm.spending import Spending, settle_left
from agents.models import Message, Run, Step
from agents.models.event import forget_texts
from agents.models.lease import RunLost
from agents.models.leaving import is_leaving
from agents.text.stored import stored as _

from .tool_calls import Return, answer_call
from .turn import was_asked
from .ways_on import note_fault
from .work import Work

logger = logging.getLogger(__name__)

TRYING_AGAIN = _("%(error)s Trying again in %(seconds)s s (%(count)s of %(most)s)")
RETRIES = 2
RETRY_SECONDS = 1.0  # where the endpoint does not say how long to wait; doubled each time
LOOK_SECONDS = 0.2  # how often a wait looks whether somebody pressed Stop

Reason = Run.Reason


def settle(message: Message, answer: Answer, status: str) -> None:
    """Take an answer into its message; the pieces in the log are done with."""
    message.content, message.reasoning = answer.content, answer.reasoning
    message.status = status
    if message.is_streamed:
        forget_texts(message)


@transaction.atomic
def keep_partial(
    work: Work,
    step: Step,
    message: Message,
    answer: Answer,
    spending: Spending | None,
    status: str,
    error: str = "",
) -> None:
    """Keep what a model had said before it was stopped or broke off, marked as such; it counts on
    the quotas. `spending` is None where the process died in the call."""
    work.run.renew()
    message.tool_calls = []  # those that came may be no more than a part
    answer.split()
    stopped = status == Step.Status.STOPPED and answer.content.strip()
    settle(message, answer, Message.Status.STOPPED if stopped else Message.Status.BROKEN)
    message.update("content", "reasoning", "status")
    step.status, step.error, step.finished_at = status, error, timezone.now()
    step.store()
    work.run.record(step.changed())
    if spending:
        spending.settle()
    else:
        settle_left(work.run, step, answer)


def recover_interrupted(work: Work, error: str) -> Step | None:
    """The step that broke off in its tool calls and can go on; a draft is kept as broken."""
    step = work.last_step
    if step is None or step.status not in (Step.Status.STREAMING, Step.Status.CALLING):
        return None
    if step.status == Step.Status.CALLING:
        return step
    message = step.message
    assert message is not None
    answer = Answer(*message.draft_text)
    keep_partial(work, step, message, answer, None, Step.Status.FAILED, error)
    return None


def wait_or_fail(work: Work, error: ModelError, failures: int) -> None:
    """Wait before the model is asked again, or end the run with the reason."""
    run = work.run
    if error.empty and was_asked(run):  # it has nothing to say
        with transaction.atomic():
            run.renew()
            run.end(Reason.NO_HEARTBEAT)
        return
    if not error.retry or failures > RETRIES:
        fail(work, str(error), error)
        return
    seconds = error.retry_after
    if seconds is None:
        seconds = RETRY_SECONDS * 2 ** (failures - 1)
    numbers = {"seconds": f"{seconds:,.0f}", "count": failures, "most": RETRIES}
    run.announce(TRYING_AGAIN % {"error": error, **numbers})
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and not is_leaving():
        time.sleep(min(LOOK_SECONDS, left))
        run.renew_or_stop()


def stop(work: Work) -> None:
    """End a run because a person stopped it; calls that have not run get a return that says so."""
    run, step = work.run, work.last_step
    try:
        with transaction.atomic():
            run.renew()
            if step and step.status == Step.Status.CALLING:
                for approval in step.undecided():
                    approval.withdraw()
                for call in step.unanswered():
                    content = "Error: not run, because the person stopped the agent."
                    answer_call(work, step, call, Return(content, failed=True))
                step.status, step.finished_at = Step.Status.STOPPED, timezone.now()
                step.store()
            run.end(Reason.CANCELLED)
    except RunLost:
        logger.info("Run %s was stopped elsewhere.", run.pk)


def hand_on(run: Run) -> None:
    """Leave a run to another worker, as this one was asked to end."""
    try:
        run.hand_on()
        logger.info("Run %s was handed on, as this worker ends.", run.pk)
    except RunLost:
        logger.info("Run %s goes on elsewhere.", run.pk)


def fail(work: Work, error: str, refusal: ModelError | None = None) -> None:
    """End a run with an error, in a sentence; after a `refusal`, with ways on."""
    run = work.run
    try:
        with transaction.atomic():
            run.renew()
            if refusal:
                note_fault(run, refusal)
            run.end(Reason.ERROR, error)
    except RunLost:
        logger.info("Run %s failed, and is executed elsewhere.", run.pk)
