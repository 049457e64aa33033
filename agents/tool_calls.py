"""A step's tool calls: each is run once, its change to memory and its return in one transaction."""

from __future__ import annotations

import logging
import time

from django.db import transaction

from agents import tools
from agents.models import MemoryRefusal, Message, Run, Step, ToolCall
from agents.models.message import storable
from agents.models.statements import insert
from agents.tools import HEARTBEAT, Caller, ToolError

logger = logging.getLogger(__name__)
Reason = Run.Reason


def call_tools(run: Run, step: Step) -> None:
    """Run the step's calls that have no return yet, in order; then end the step."""
    if run.status != Run.Status.RUNNING:
        return
    for call in step.unanswered():
        with transaction.atomic():
            run.go_on(f"Calling {call.name}")
            call_tool(run, step, call)
    with transaction.atomic():
        run.go_on()
        follow(run, step)


def call_tool(run: Run, step: Step, call: ToolCall) -> None:
    """Run one call: its change to memory and its return are one transaction."""
    began = time.monotonic()
    failed = True
    try:
        with transaction.atomic():
            content = perform(run, step, call)
        failed = False
    except (ToolError, MemoryRefusal) as error:
        content = f"Error: {error}"
    except Exception as error:
        logger.exception("The tool %s failed.", call.name)
        content = f"Error: the tool {call.name} failed with {type(error).__name__}: {error}"
    if failed:
        step.edits = [edit for edit in step.edits if edit.tool_call_id != call.id]  # taken back
    answer_call(run, step, call, content, failed, int((time.monotonic() - began) * 1000))


def perform(run: Run, step: Step, call: ToolCall) -> str:
    """Call the tool's function. ToolError where the call does not fit it."""
    if call.name not in run.agent.tools:
        offered = ", ".join(run.agent.tools) or "none"
        raise ToolError(f"There is no tool '{call.name}'; the tools are: {offered}.")
    tool = tools.get(call.name)
    arguments = tool.parse(call.arguments, heartbeat=tools.speaks_by_tool(run.agent))
    return tool.function(Caller(run.agent, step, call.id), **arguments)


def answer_call(
    run: Run, step: Step, call: ToolCall, content: str, failed: bool, milliseconds: int | None
) -> None:
    """Store a call's return; from now on it has run."""
    answer = Message(
        agent=run.agent,
        run=run,
        step=step,
        role=Message.Role.TOOL,
        content=storable(content),
        tool_call_id=call.id,
        is_error=failed,
        duration_ms=milliseconds,
        number=run.agent.record(step.changed(), messages=1),
    )
    insert(answer)
    step.said.append(answer)


def follow(run: Run, step: Step) -> None:
    """After the last return: why another step follows, or why the run ends."""
    returns = step.returns()
    calls = step.message.calls() if step.message else []
    failed = any(returns[call.id].is_error for call in calls)
    if any(ends_turn(call) and not returns[call.id].is_error for call in calls):
        step.end("answered", Reason.ANSWERED)
    elif run.answered_steps() >= run.agent.max_steps:
        step.end("the last step allowed", Reason.MAX_STEPS)
    elif failed:
        step.end("a tool call failed, so the agent sees why and goes on")
    elif not tools.speaks_by_tool(run.agent):
        step.end("called a tool, so the agent sees the result and goes on")
    elif any(asks_for_heartbeat(call) for call in calls):
        step.end("asked for a heartbeat, so the agent goes on")
    else:
        step.end("asked for no heartbeat", Reason.NO_HEARTBEAT)


def ends_turn(call: ToolCall) -> bool:
    return call.name in tools.names() and tools.get(call.name).ends_turn


def asks_for_heartbeat(call: ToolCall) -> bool:
    return tools.arguments_of(call.arguments).get(HEARTBEAT) in (True, "true")
