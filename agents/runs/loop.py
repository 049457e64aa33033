"""The loop. There is only this one: browser or script, MemGPT style or plain.

A run is a row, and so is all it did: whoever executes it looks at what is stored and goes on from
there. A tool call without a return has not run; one with a return has.
"""

from __future__ import annotations

import logging

from django.db import transaction
from structlog.contextvars import bind_contextvars

from agents.llm import Answer, Endpoint, ModelCall, ModelError, facts, resolve
from agents.llm.spending import Spending
from agents.llm.vision import reads_images
from agents.llm.windows import window_of
from agents.memory import sent_requests
from agents.memory.compaction import compact, is_full, summarise_again, too_large
from agents.memory.context import Context, compile_context
from agents.memory.titles import title_by_model
from agents.models import Approval, Event, Message, Run, Step
from agents.models.database_errors import unavailable
from agents.models.lease import RunLost, RunStopped
from agents.models.leaving import RunHandedOn, is_leaving
from agents.models.message import DraftText
from agents.text.stored import stored as _
from agents.text.stored import stored_plural

from .failures import fail, hand_on, keep_partial, recover_interrupted, settle, stop, wait_or_fail
from .streaming import stream
from .tool_calls import CALLING, call_tools, open_questions
from .turn import end_turn
from .work import Work

logger = logging.getLogger(__name__)

MOST_TRIES = 20  # of workers at one run; each before the last died over it
CUT = {
    "length": _("cut off at the model's output limit"),
    "content_filter": _("cut off by a filter"),
}
STOPPED_OFTEN = stored_plural(
    "The server stopped %(count)s time while it worked on this message.",
    "The server stopped %(count)s times while it worked on this message.",
)
FAILED = _("memoryweb itself failed (%(kind)s); the server's log says where.")
INTERRUPTED = _("Interrupted while the model was answering.")
RESTARTED = _("The server was restarted while the model was answering.")
LOOKED_BACK = 1000  # steps, for how much a model has read

Kind = Event.Kind
Reason = Run.Reason


def run_agent(run_id: int) -> None:
    """Execute a run until it ends: a step, its tool calls, the next step."""
    run = Run.acquire(run_id)
    if run is None:
        logger.info("Run %s is executed elsewhere, or has ended.", run_id)
        return
    work = Work(run)
    if not work.read_context():
        return
    try:
        if run.tries > MOST_TRIES:
            fail(work, STOPPED_OFTEN[1] % {"count": MOST_TRIES})
        elif run.kind == Run.Kind.COMPACTION:
            compact_now(work)
        else:
            take_steps(work)
    except RunStopped:
        stop(work)
    except ModelError as error:
        fail(work, str(error))
    except RunHandedOn:
        hand_on(run)
        return
    except RunLost:
        logger.info("Run %s is executed elsewhere, or was deleted.", run_id)
    except Exception as error:
        if unavailable(error):
            raise  # nothing can be stored on the run now; the engine goes on with it later
        logger.exception("Run %s failed.", run_id)
        words = FAILED % {"kind": type(error).__name__}
        run.refresh_from_db()
        recover_interrupted(work, words)
        fail(work, words)
    title_by_model(run)
    logger.info("Run %s: %s.", run_id, run.reason or run.status)


def take_steps(work: Work) -> None:
    """One step after another until the run ends or waits."""
    step, failures = recover_interrupted(work, INTERRUPTED), 0
    while work.run.status == Run.Status.RUNNING:
        if is_leaving():
            raise RunHandedOn
        try:
            step = step or take_step(work)
            call_tools(work, step)
            step, failures = None, 0
        except ModelError as error:
            step = None
            if not error.adapted:
                failures += 1
                wait_or_fail(work, error, failures)


# -- a step ----------------------------------------------------------------------------------------


def take_step(work: Work) -> Step:
    """One model call, its message stored as it streams. ModelError or RunStopped where it fails."""
    work.refresh()
    endpoint, model = resolve(work.model, work.agent.owner_id)
    context = fitting_context(work, endpoint, model)
    body = context.body(model)
    spending = Spending.of_run(work.run, endpoint, model)
    step, message = begin_step(work, spending, context, body)
    bind_contextvars(step_id=step.pk)
    call = ModelCall(spending, body, context.offered)
    try:
        stream(work.run, message, call)
        complete(work, step, message, call.answer, spending)
    except RunStopped:
        keep_partial(work, step, message, call.answer, spending, Step.Status.STOPPED)
        raise
    except RunHandedOn:
        keep_partial(work, step, message, call.answer, spending, Step.Status.FAILED, RESTARTED)
        raise
    except ModelError as error:
        keep_partial(work, step, message, call.answer, spending, Step.Status.FAILED, str(error))
        error.adapted = learn_from(error, work, context, endpoint, model)
        raise
    finally:
        call.close()
    facts.confirm(endpoint, model)
    return step


def learn_from(
    error: ModelError, work: Work, context: Context, endpoint: Endpoint, model: str
) -> bool:
    """Take in what an endpoint's refusal tells; whether the next request will be another one."""
    if not error.too_long:
        return facts.adapt(endpoint, model, error, images=bool(context.images))
    agent = work.agent
    if not context.images:
        agent.calibrate_tokens(context.size, error.request_tokens)
    if error.window and not has_read(endpoint, model, error.window, work.run.step_list[-1]):
        facts.learn_window(endpoint, model, error.window, error.server_words)
        context.window = min(context.window, error.window)
    context.bytes_per_token = agent.bytes_per_token or context.bytes_per_token
    return make_room(work, context, endpoint, model, all_but_last=True)


def has_read(endpoint: Endpoint, model: str, tokens: int, last: Step) -> bool:
    """Whether a model took more tokens of late: what a refusal quotes may be anybody's words."""
    steps = Step.objects.filter(pk__gt=last.pk - LOOKED_BACK, pk__lte=last.pk)
    return steps.filter(endpoint=str(endpoint), model=model, prompt_tokens__gt=tokens).exists()


def compact_now(work: Work) -> None:
    """Compact as far as it goes, because a person asked for it."""
    run = work.run
    if not run.compaction_list:  # else it was interrupted right after
        endpoint, model = resolve(work.model, work.agent.owner_id)
        dialect = facts.dialect_of(endpoint, model)
        context = compile_context(work.conversation, window_of(endpoint, model), dialect=dialect)
        make_room(work, context, endpoint, model, all_but_last=True)
    with transaction.atomic():
        run.renew_or_stop()
        run.end(Reason.COMPACTED if run.compaction_list else Reason.NO_ROOM)


def make_room(
    work: Work, context: Context, endpoint: Endpoint, model: str, *, all_but_last: bool
) -> bool:
    """Have the oldest exchanges leave the context; False where there is only the last."""
    compaction = compact(work.run, context, endpoint, model, all_but_last=all_but_last)
    if compaction:
        work.compacted(compaction)
    return compaction is not None


def fitting_context(work: Work, endpoint: Endpoint, model: str) -> Context:
    """What the model is sent: compacted where it nears the window. ModelError if it cannot fit."""
    run = work.run

    def compiled() -> Context:
        return compile_context(
            work.conversation,
            window_of(endpoint, model),
            run.internal_id,
            work.offered(),
            run.speaks_by_tool,
            facts.dialect_of(endpoint, model),
            facts.window_learned(endpoint, model),
            asks=True,
            system=run.override_system,
            skills=run.skills,
        )

    context = compiled()
    if context.images and not reads_images(endpoint, model):
        context = compiled()  # it was asked only now
    if not run.step_list and summarise_again(run, context, endpoint, model):
        context = compiled()
    asked = run.wants_room
    if asked:
        run.wants_room = False
        run.update("wants_room")
    if asked or is_full(context):
        if error := too_large(work.agent, context):
            raise ModelError(error)
        if make_room(work, context, endpoint, model, all_but_last=asked):
            context = compiled()
    return context


@transaction.atomic
def begin_step(
    work: Work, spending: Spending, context: Context, body: bytes
) -> tuple[Step, Message]:
    """The step's row and an empty draft of what the model is about to say, which is reserved.

    QuotaReached, with nothing stored, where that is more than is left.
    """
    run, last = work.run, work.last_step
    run.renew_or_stop(_("Thinking"))
    step = Step(
        run=run,
        number=last.number + 1 if last else 1,
        model=spending.model,
        endpoint=str(spending.endpoint),
        context_tokens=context.tokens(),
        window=context.window,
        **sent_requests.stored_fields(work.conversation, context, body, run.internal_id),
    )
    step.insert()
    message = Message(
        agent=work.agent,
        conversation_id=run.conversation_id,
        run=run,
        step=step,
        role=Message.Role.ASSISTANT,
        status=Message.Status.DRAFT,
        internal=run.internal_id is not None,
        number=run.record(Event.of(Kind.STEP_BEGAN, step=step), messages=1),
    )
    message.insert()
    message.draft_text, message.is_streamed = DraftText("", ""), False
    spending.reserve(step.context_tokens, context.answer_limit)
    work.began(step, message)
    return step, message


def complete(work: Work, step: Step, message: Message, answer: Answer, spending: Spending) -> None:
    """The message in its final form, with what is asked about its calls; the run ends here if it
    calls no tool. What it took is counted in the same transaction."""
    message.tool_calls = [call.stored() for call in answer.tool_calls()]
    waiting = open_questions(work, step)
    prepared = [call.prepare() for call in waiting]  # in the sandbox, which may take seconds
    with transaction.atomic(), spending.settled_at_end():
        calls = message.calls()
        work.run.renew_or_stop(CALLING % {"tool": calls[0].name} if calls else None)
        settle(message, answer, Message.Status.COMPLETE)
        message.extra = answer.extra(facts.signer(step.endpoint, step.model))
        message.update("content", "reasoning", "tool_calls", "extra", "status")
        step.prompt_tokens, step.completion_tokens = answer.prompt_tokens, answer.completion_tokens
        if not step.sent_images:  # else the report says little about the texts
            work.agent.calibrate_tokens(step.context_bytes, answer.prompt_tokens)
        if not calls:
            end_turn(work, step, CUT.get(answer.finish, _("answered")), Reason.ANSWERED)
            return
        step.status = Step.Status.CALLING
        step.store()
        if waiting:
            questions = [call.question(it) for call, it in zip(waiting, prepared, strict=True)]
            work.asked(step, questions)
            Approval.ask(work.run, step, questions)
        else:
            work.run.record(step.changed())
