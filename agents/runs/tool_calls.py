"""A step's tool calls: each is run once, its change to memory and its return in one transaction."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

from django.conf import settings
from django.db import transaction

from agents.models import (
    Approval,
    ApprovalNeeded,
    BlockEdit,
    MemoryRefusal,
    Message,
    Run,
    Step,
    ToolCall,
)
from agents.models.database_errors import unavailable
from agents.models.message import storable
from agents.search import hybrid
from agents.text.stored import stored as _
from agents.tools import Caller, ClientTool, Outcome, Ready, Tool, ToolError, ToolFailure, failed
from agents.tools.custom import ATTEMPTS, CustomTool, Prepared, WriteConflict, busy

from .turn import decide_next
from .work import Work

CALLING = _("Calling %(tool)s")
RUN_BY_SCRIPT = _("%(tool)s is run by the script that brought it")
NEEDS_APPROVAL = _("%(tool)s needs approval")
BLOCK_NEEDS_APPROVAL = _("The block needs approval before it is changed")

logger = logging.getLogger(__name__)
SIGN_OF_LIFE_SECONDS = 1.0
_outside = ThreadPoolExecutor(settings.RUN_THREADS, thread_name_prefix="tool")
Decided = Approval.Status


class Return(NamedTuple):
    """What a call gives back, and the block edits it made."""

    content: str
    failed: bool = False
    stdout: str = ""
    edits: Sequence[BlockEdit] = ()


def call_tools(work: Work, step: Step) -> None:
    """Run the step's calls that have no return yet, in order; then end the step.

    Returns early where a call waits for a person or for its script; the run then waits as well.
    None of them runs before all that was asked about them is answered, so that returns keep the
    order of their calls.
    """
    if work.run.status != Run.Status.RUNNING:
        return
    if undecided := step.undecided():
        with transaction.atomic():
            work.run.renew_or_stop()
            Approval.wait_for(undecided, work.run, step)
        return
    unanswered = step.unanswered()
    for call in unanswered:
        if not Call(work, step, call).answer(last=call is unanswered[-1]):
            return
    if not unanswered:  # interrupted before the step was ended
        with transaction.atomic():
            work.run.renew_or_stop()
            decide_next(work, step)


def open_questions(work: Work, step: Step) -> list[Call]:
    """The step's calls that have to wait, found before any of them runs.

    A call that a rule forbids, or that does not fit its tool, is not among them. What a block
    demands shows only when the call is made.
    """
    waiting, called = [], work.run.called()
    for each in (Call(work, step, call) for call in step.unanswered()):
        if each.has_to_wait(called):
            waiting.append(each)
        called = [*called, each.call.name]
    return waiting


class Call:
    """One tool call of a step, on its way to its return."""

    def __init__(self, work: Work, step: Step, call: ToolCall) -> None:
        self.work, self.step, self.call = work, step, call
        self.tool = work.tools.get(call.name)
        self.approval = step.approval(call.id)
        approved = self.approval is not None and self.approval.status == Decided.APPROVED
        self.caller = Caller(work.agent, step, call.id, approved)

    def answer(self, *, last: bool) -> bool:
        """Run the call and store its return; False where it waits for approval instead.

        With the `last` call's return the step ends, in the same transaction.
        """
        began = time.monotonic()
        hybrid.get_ready(self.call, self.work.run.payer_id)
        for _attempt in range(ATTEMPTS):
            prepared = self.prepare()
            try:
                with transaction.atomic():
                    self.work.run.renew_or_stop(CALLING % {"tool": self.call.name})
                    result = self.perform(prepared)
                    if result is None:
                        return False
                    self.store(result, int((time.monotonic() - began) * 1000), last=last)
                    return True
            except WriteConflict:
                logger.info("%s runs again: its memory changed meanwhile.", self.call.name)
        with transaction.atomic():
            self.work.run.renew_or_stop()
            self.store(Return(f"Error: {busy(self.call.name)}", failed=True), None, last=last)
        return True

    def store(self, result: Return, milliseconds: int | None, *, last: bool) -> None:
        """Store the return; after the last one, say what follows."""
        answer_call(self.work, self.step, self.call, result, milliseconds, publish=not last)
        if last:
            decide_next(self.work, self.step)

    def prepare(self) -> Prepared | Ready | None:
        """Run what may take seconds outside any transaction: a custom tool, on staged memory; one
        that asks others or computes, but not before a person has approved it."""
        called = self.work.run.called()
        try:
            if isinstance(self.tool, CustomTool):
                return self.tool.prepare(self.work.agent, self.arguments)
            if self.tool and self.tool.outside and not self.needs_approval(called):
                return self.run_outside(self.tool)
        except (ToolError, MemoryRefusal):
            pass  # raised again, and answered, where it is performed
        return None

    def run_outside(self, tool: Tool) -> Ready:
        """Call the tool in another thread, with signs of life meanwhile. RunStopped: nobody waits
        for it any more."""
        bound = copy_context()  # the ids of run and step, for the log
        called = _outside.submit(bound.run, tool.try_call, self.caller, self.arguments)
        while True:
            with transaction.atomic():
                self.work.run.renew_or_stop(CALLING % {"tool": tool.name})
            try:
                return called.result(SIGN_OF_LIFE_SECONDS)
            except TimeoutError:
                continue

    def perform(self, prepared: Prepared | Ready | None) -> Return | None:
        """The call's return; None where a person has to approve first, or its script to run it.

        Raises WriteConflict: then prepare again.
        """
        if self.approval and self.approval.status == Decided.RETURNED:
            return given(self.approval)
        stdout = prepared.stdout if prepared else ""
        try:
            with transaction.atomic():
                if self.needs_approval(self.work.run.called()):
                    raise ApprovalNeeded
                outcome = self.execute(prepared, self.caller)
                note = self.approval.note if self.approval else ""
                return Return(note + outcome.content, stdout=stdout, edits=outcome.edits)
        except ApprovalNeeded:
            question = self.question(prepared)
            Approval.ask(self.work.run, self.step, [question])
            self.work.asked(self.step, [question])
            return None
        except WriteConflict:
            raise
        except ToolFailure as failure:
            content = str(failure)
        except (ToolError, MemoryRefusal) as error:
            content = f"Error: {error}"
        except Exception as error:
            if unavailable(error):
                raise
            logger.exception("The tool %s failed.", self.call.name)
            content = f"{failed(self.call.name)}: {type(error).__name__}: {error}"
        return Return(content, failed=True, stdout=stdout)

    def has_to_wait(self, called: Sequence[str]) -> bool:
        """Whether it cannot run before somebody answers, once these were called."""
        try:
            return self.needs_approval(called)
        except ToolError:
            return False  # answered at once, where it is performed

    def needs_approval(self, called: Sequence[str]) -> bool:
        """Whether somebody has to answer who did not. ToolError: it may not run after these."""
        if self.tool is None:
            if self.work.agent.is_temporary and self.call.name in self.work.agent.tools:
                raise ToolError(
                    f"This is a temporary chat, in which there is no memory: {self.call.name}"
                    " cannot be called here."
                )
            offered = ", ".join(self.work.tools) or "none"
            raise ToolError(f"There is no tool '{self.call.name}'; the tools are: {offered}.")
        if self.approval and self.approval.status not in (Decided.PENDING, Decided.APPROVED):
            raise ToolError(self.approval.refusal)
        if refusal := self.work.rules.refusal(self.call.name, called):
            raise ToolError(refusal)
        _ = self.arguments  # nobody is asked about a call that does not fit its tool
        return self.asks() and not self.caller.approved

    def asks(self) -> bool:
        """Whether it always waits: by the agent's rules, by the tool's own, or for its script."""
        if isinstance(self.tool, ClientTool):
            return True
        by_default = bool(self.tool and self.tool.needs_approval)
        return self.work.rules.asks(self.call.name, by_default=by_default)

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """What the tool is called with; ToolError where that does not fit it."""
        assert self.tool
        text = (self.approval.arguments if self.approval else "") or self.call.arguments
        return self.tool.parse(text, heartbeat=self.work.run.speaks_by_tool)

    def execute(self, prepared: Prepared | Ready | None, caller: Caller) -> Outcome:
        """Carry the call out."""
        assert self.tool
        if prepared:
            return prepared.apply(caller)
        return self.tool.call(caller, self.arguments)

    def question(self, prepared: Prepared | Ready | None) -> Approval:
        """What is asked about the call, with what it would write to memory."""
        name, kind = self.call.name, Approval.Kind.PERSON
        if isinstance(self.tool, ClientTool):
            why, kind = RUN_BY_SCRIPT % {"tool": name}, Approval.Kind.CLIENT
        elif self.asks():
            why = NEEDS_APPROVAL % {"tool": name}
        else:
            why = BLOCK_NEEDS_APPROVAL
        changes = self.changes(prepared)
        return Approval(tool_call_id=self.call.id, kind=kind, why=why[:300], changes=changes)

    def changes(self, prepared: Prepared | Ready | None) -> list[object]:
        """What the call would write to blocks, found by doing it and taking it back."""
        edits: Sequence[BlockEdit] = ()
        if self.tool and self.tool.outside:
            return []  # it writes none, and could not be taken back
        try:
            with transaction.atomic():
                edits = self.execute(prepared, replace(self.caller, approved=True)).edits
                raise _TakenBack
        except (_TakenBack, ToolError, MemoryRefusal, WriteConflict):
            return [
                {"label": edit.block.label, "before": edit.before, "after": edit.after}
                for edit in edits
            ]


class _TakenBack(Exception):
    """Ends a transaction whose outcome was only looked at."""


def given(approval: Approval) -> Return:
    """The return that a script gave in place of the tool."""
    returned = approval.returned or {}
    printed = "\n".join(returned.get("stdout") or [])
    return Return(returned["tool_return"], returned["status"] == "error", printed)


def answer_call(
    work: Work,
    step: Step,
    call: ToolCall,
    result: Return,
    milliseconds: int | None = None,
    *,
    publish: bool = True,
) -> None:
    """Store a call's return; from now on it has run. `publish`: pages are told of it at once."""
    events = [step.changed()] if publish else []
    message = Message(
        agent=work.agent,
        conversation_id=work.run.conversation_id,
        run=work.run,
        step=step,
        role=Message.Role.TOOL,
        content=storable(result.content),
        stdout=storable(result.stdout),
        tool_call_id=call.id,
        is_error=result.failed,
        internal=work.run.internal_id is not None,
        duration_ms=milliseconds,
        number=work.run.record(*events, messages=1),
    )
    message.insert()
    work.returned(step, message, result.edits)
