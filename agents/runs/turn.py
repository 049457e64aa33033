"""What follows on a step: another one, and why, or the end of the turn, and why."""

from __future__ import annotations

from agents.models import Message, Run, Step, ToolCall
from agents.text.stored import stored as _
from agents.text.stored import stored_plural
from agents.tools import ENDING, HEARTBEAT, arguments_of

from .work import Work

Reason = Run.Reason
PATIENCE = 3  # steps in a row without a call, where a rule wants one
LAST_STEP = _("the last step allowed")
NO_WORD_YET = _("said nothing to the person yet, so the agent is asked for its answer")
ENDS_TURN = _("%(tool)s ends the turn")
GOES_ON_AFTER = _("a rule says that the turn goes on after %(tool)s")
MUST_CALL = _("a rule says that %(tools)s must be called before the turn ends")
NOT_CALLED = stored_plural(
    "A rule says that %(tools)s must be called before the turn ends; the model did not, though it"
    " was asked %(count)s time.",
    "A rule says that %(tools)s must be called before the turn ends; the model did not, though it"
    " was asked %(count)s times.",
)


def decide_next(work: Work, step: Step) -> None:
    """After the last return: why another step follows, or why the run ends."""
    run, rules = work.run, work.rules
    returns, called = step.returns(), run.called()
    calls = step.message.calls() if step.message else []
    done = [call for call in calls if not returns[call.id].is_error]
    failed = len(done) < len(calls)
    ending = [call.name for call in done if call.name in work.tools and rules.ends(call.name)]
    if ending:
        named = _("answered") if ending[0] == "send_message" else ENDS_TURN % {"tool": ending[0]}
        end_turn(work, step, named, Reason.ANSWERED)
    elif stuck := rules.stuck(called):
        step.end(_("no rule says what comes next"), Reason.ERROR, stuck)
    elif run.answered_steps() >= run.step_limit:
        step.end(LAST_STEP, Reason.MAX_STEPS)
    elif failed:
        step.end(_("a tool call failed, so the agent sees why and goes on"))
    elif any(each.returned for each in step.approval_list):
        step.end(_("a script returned a call, so the agent sees the result and goes on"))
    elif not run.speaks_by_tool:
        step.end(_("called a tool, so the agent sees the result and goes on"))
    elif any(asks_for_heartbeat(call) for call in calls):
        step.end(_("asked for a heartbeat, so the agent goes on"))
    elif rules.bound(called):
        step.end(_("a rule says what comes next, so the agent goes on"))
    elif going := next((call.name for call in done if rules.goes_on(call.name)), None):
        step.end(GOES_ON_AFTER % {"tool": going})
    elif not rules.missing(called) and expects_answer(run):
        step.end(NO_WORD_YET)
    else:
        end_turn(work, step, _("asked for no heartbeat"), Reason.NO_HEARTBEAT)


def end_turn(work: Work, step: Step, outcome: str, reason: str) -> None:
    """End the step and with it the run, unless a rule wants a tool that was not called yet."""
    run = work.run
    missing = work.rules.missing(run.called())
    names = " and ".join(missing)
    if not missing:
        step.end(outcome, reason)
    elif only_talked(run):
        words = NOT_CALLED[1] % {"tools": names, "count": PATIENCE}
        step.end(_("called no tool"), Reason.ERROR, words)
    elif run.answered_steps() >= run.step_limit:
        step.end(LAST_STEP, Reason.MAX_STEPS)
    else:
        step.end(MUST_CALL % {"tools": names})


def expects_answer(run: Run) -> bool:
    """Whether a person waits for a word that did not come, and the agent was not asked for it."""
    spoken = any(name in ENDING for name in run.called())
    return run.role == Message.Role.USER and not spoken and not was_asked(run)


def was_asked(run: Run) -> bool:
    """Whether the agent was given a step only to answer the person."""
    return any(step.outcome == NO_WORD_YET for step in run.step_list)


def only_talked(run: Run) -> bool:
    """Whether the model called no tool in the last steps, as one that cannot be made to."""
    answered = [step for step in run.step_list if step.status != Step.Status.FAILED][-PATIENCE:]
    talked = [step for step in answered if step.message and not step.message.tool_calls]
    return len(talked) == PATIENCE


def asks_for_heartbeat(call: ToolCall) -> bool:
    return arguments_of(call.arguments).get(HEARTBEAT) in (True, "true")
