"""A step's tool calls: each is run once, its change to memory and its return in one transaction."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from typing import NamedTuple

from django.db import transaction

from agents import tools
from agents.models import Approval, ApprovalNeeded, MemoryRefusal, Message, Run, Step, ToolCall
from agents.models.database_errors import unavailable
from agents.models.message import storable
from agents.models.prepared_sql import insert
from agents.search import hybrid
from agents.tools import HEARTBEAT, Caller, Tool, ToolError
from agents.tools.custom import ATTEMPTS, CustomTool, Prepared, Stale, busy

logger = logging.getLogger(__name__)
Reason = Run.Reason
Decided = Approval.Status
LAST_STEP = "the last step allowed"
NO_WORD_YET = "said nothing to the person yet, so the agent is asked for its answer"
PATIENCE = 3  # steps in a row without a call, where a rule wants one


class Return(NamedTuple):
    """What a call gives back."""

    content: str
    failed: bool = False
    stdout: str = ""


def call_tools(run: Run, step: Step) -> None:
    """Run the step's calls that have no return yet, in order; then end the step.

    Returns early where a call waits for a person's approval; the run then waits as well.
    """
    if run.status != Run.Status.RUNNING:
        return
    offered = tools.of_run(run)
    unanswered = step.unanswered()
    for call in unanswered:
        if not Call(run, step, call, offered).answer(last=call is unanswered[-1]):
            return
    if not unanswered:  # interrupted before the step was ended
        with transaction.atomic():
            run.go_on()
            follow(run, step, offered)


class Call:
    """One tool call of a step, on its way to its return."""

    def __init__(self, run: Run, step: Step, call: ToolCall, offered: dict[str, Tool]) -> None:
        self.run, self.step, self.call, self.offered = run, step, call, offered
        self.tool = offered.get(call.name)
        self.rules = tools.rules_of(run)
        self.approval = step.approval(call.id)
        approved = self.approval is not None and self.approval.status == Decided.APPROVED
        self.caller = Caller(run.agent, step, call.id, approved)

    def answer(self, *, last: bool) -> bool:
        """Run the call and store its return; False where it waits for approval instead.

        With the `last` call's return the step ends, in the same transaction.
        """
        began = time.monotonic()
        hybrid.get_ready(self.call)
        for _ in range(ATTEMPTS):
            prepared = self.prepare()
            try:
                with transaction.atomic():
                    self.run.go_on(f"Calling {self.call.name}")
                    given = self.perform(prepared)
                    if given is None:
                        return False
                    self.store(given, int((time.monotonic() - began) * 1000), last=last)
                    return True
            except Stale:
                logger.info("%s runs again: its memory changed meanwhile.", self.call.name)
        with transaction.atomic():
            self.run.go_on()
            words = f"Error: {busy(self.call.name)}"
            self.store(Return(words, failed=True), None, last=last)
        return True

    def store(self, given: Return, milliseconds: int | None, *, last: bool) -> None:
        """Store the return; after the last one, say what follows."""
        answer_call(self.run, self.step, self.call, given, milliseconds, told=not last)
        if last:
            follow(self.run, self.step, self.offered)

    def prepare(self) -> Prepared | None:
        """Run a custom tool in the sandbox, outside any transaction, as it may take seconds."""
        if not isinstance(self.tool, CustomTool):
            return None
        try:
            return self.tool.prepare(self.run.agent, self.arguments())
        except (ToolError, MemoryRefusal):
            return None  # said again, and told, where it is performed

    def perform(self, prepared: Prepared | None) -> Return | None:
        """The call's return; None where a person has to approve first. Stale: prepare again."""
        edits = list(self.step.edits)
        stdout = prepared.stdout if prepared else ""
        try:
            with transaction.atomic():
                if self.needs_approval():
                    raise ApprovalNeeded
                return Return(self.note() + self.execute(prepared, self.caller), stdout=stdout)
        except ApprovalNeeded:
            self.step.edits = edits
            self.ask(prepared)
            return None
        except Stale:
            self.step.edits = edits
            raise
        except (ToolError, MemoryRefusal) as error:
            content = f"Error: {error}"
        except Exception as error:
            if unavailable(error):
                raise
            logger.exception("The tool %s failed.", self.call.name)
            content = (
                f"Error: the tool {self.call.name} failed with {type(error).__name__}: {error}"
            )
        self.step.edits = edits  # what it wrote was taken back
        return Return(content, failed=True, stdout=stdout)

    def needs_approval(self) -> bool:
        """Whether a rule wants a person's word that is not there. ToolError: it may not run."""
        if self.tool is None:
            offered = ", ".join(tools.of_run(self.run)) or "none"
            raise ToolError(f"There is no tool '{self.call.name}'; the tools are: {offered}.")
        if self.approval and self.approval.status in (Decided.REFUSED, Decided.EXPIRED):
            raise ToolError(refused(self.approval))
        if refusal := self.rules.refusal(self.call.name, self.run.called()):
            raise ToolError(refusal)
        self.arguments()
        return self.asks() and not self.caller.approved

    def asks(self) -> bool:
        """Whether a person must approve the call, by the agent's rules or by the tool itself."""
        by_default = bool(self.tool and self.tool.needs_approval)
        return self.rules.asks(self.call.name, by_default=by_default)

    def arguments(self) -> dict[str, object]:
        """What the tool is called with; ToolError where that does not fit it."""
        assert self.tool
        text = (self.approval.arguments if self.approval else "") or self.call.arguments
        return self.tool.parse(text, heartbeat=self.run.speaks_by_tool)

    def execute(self, prepared: Prepared | None, caller: Caller) -> str:
        """Carry the call out."""
        assert self.tool
        if prepared:
            return prepared.apply(caller)
        return self.tool.function(caller, **self.arguments())

    def note(self) -> str:
        """What the model is told before the return."""
        return self.approval.note if self.approval else ""

    def ask(self, prepared: Prepared | None) -> None:
        """Ask a person, showing what the call would write to memory."""
        why = (
            f"{self.call.name} needs approval"
            if self.asks()
            else "A block asks before it is written"
        )
        Approval.ask(self.run, self.step, self.call.id, why, self.changes(prepared))

    def changes(self, prepared: Prepared | None) -> list[object]:
        """What the call would write to blocks, found by doing it and taking it back."""
        edits = list(self.step.edits)
        changes: list[object] = []
        caller = replace(self.caller, approved=True)
        try:
            with transaction.atomic():
                self.execute(prepared, caller)
                changes = [
                    {"label": edit.block.label, "before": edit.before, "after": edit.after}
                    for edit in self.step.edits[len(edits) :]
                ]
                raise _TakenBack
        except (_TakenBack, ToolError, MemoryRefusal, Stale):
            return changes
        finally:
            self.step.edits = edits


class _TakenBack(Exception):
    """Ends a transaction whose outcome was only looked at."""


def refused(approval: Approval) -> str:
    """What the model is told of a call that a person did not approve."""
    if approval.status == Decided.EXPIRED:
        return "not run: nobody approved it in time, which counts as a refusal."
    return f"not run, because the person refused it: {approval.reason or 'no reason was given'}"


def answer_call(
    run: Run,
    step: Step,
    call: ToolCall,
    given: Return,
    milliseconds: int | None,
    *,
    told: bool = True,
) -> None:
    """Store a call's return; from now on it has run. `told`: pages hear of it at once."""
    events = [step.changed()] if told else []
    answer = Message(
        agent=run.agent,
        run=run,
        step=step,
        role=Message.Role.TOOL,
        content=storable(given.content),
        stdout=storable(given.stdout),
        tool_call_id=call.id,
        is_error=given.failed,
        aside=run.aside is not None,
        duration_ms=milliseconds,
        number=run.agent.record(*events, messages=1),
    )
    insert(answer)
    step.said.append(answer)


def follow(run: Run, step: Step, offered: dict[str, Tool]) -> None:
    """After the last return: why another step follows, or why the run ends."""
    returns, rules, called = step.returns(), tools.rules_of(run), run.called()
    calls = step.message.calls() if step.message else []
    done = [call for call in calls if not returns[call.id].is_error]
    failed = len(done) < len(calls)
    ending = [call.name for call in done if call.name in offered and rules.ends(call.name)]
    if ending:
        named = "answered" if ending[0] == "send_message" else f"{ending[0]} ends the turn"
        end_turn(run, step, named, Reason.ANSWERED)
    elif stuck := rules.stuck(called):
        step.end("no rule says what comes next", Reason.ERROR, stuck)
    elif run.answered_steps() >= run.step_limit:
        step.end(LAST_STEP, Reason.MAX_STEPS)
    elif failed:
        step.end("a tool call failed, so the agent sees why and goes on")
    elif not run.speaks_by_tool:
        step.end("called a tool, so the agent sees the result and goes on")
    elif any(asks_for_heartbeat(call) for call in calls):
        step.end("asked for a heartbeat, so the agent goes on")
    elif rules.bound(called):
        step.end("a rule says what comes next, so the agent goes on")
    elif going := next((call.name for call in done if rules.goes_on(call.name)), None):
        step.end(f"a rule says that the turn goes on after {going}")
    elif not rules.missing(called) and expects_answer(run):
        step.end(NO_WORD_YET)
    else:
        end_turn(run, step, "asked for no heartbeat", Reason.NO_HEARTBEAT)


def end_turn(run: Run, step: Step, outcome: str, reason: str) -> None:
    """End the step and with it the run, unless a rule wants a tool that was not called yet."""
    missing = tools.rules_of(run).missing(run.called())
    wanted = " and ".join(missing)
    if not missing:
        step.end(outcome, reason)
    elif only_talked(run):
        words = f"A rule says that {wanted} must be called before the turn ends; the model did not"
        step.end("called no tool", Reason.ERROR, f"{words}, though it was asked {PATIENCE} times.")
    elif run.answered_steps() >= run.step_limit:
        step.end(LAST_STEP, Reason.MAX_STEPS)
    else:
        step.end(f"a rule says that {wanted} must be called before the turn ends")


def expects_answer(run: Run) -> bool:
    """Whether a person waits for a word that did not come, and the agent was not asked for it."""
    spoken = any(name in tools.ENDING for name in run.called())
    return run.role == Message.Role.USER and not spoken and not was_asked(run)


def was_asked(run: Run) -> bool:
    """Whether the agent was given a step only to answer the person."""
    return any(step.outcome == NO_WORD_YET for step in run.taken)


def only_talked(run: Run) -> bool:
    """Whether the model called no tool in the last steps, as one that cannot be made to."""
    answered = [step for step in run.taken if step.status != Step.Status.FAILED][-PATIENCE:]
    talked = [step for step in answered if step.message and not step.message.tool_calls]
    return len(talked) == PATIENCE


def asks_for_heartbeat(call: ToolCall) -> bool:
    return tools.arguments_of(call.arguments).get(HEARTBEAT) in (True, "true")
