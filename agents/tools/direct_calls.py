"""A call of an agent's tool that a script makes itself, in no run of the agent."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import transaction

from agents.models import Agent, Editor, MemoryRefusal, Run, Step

from .custom import ATTEMPTS, CustomTool, WriteConflict, busy
from .dry_run import one_at_a_time
from .tool import Caller, Tool, ToolError, ToolFailure, failed

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class DirectResult(NamedTuple):
    """What a call gave back."""

    content: str
    failed: bool = False
    stdout: str = ""


def call_directly(
    tool: Tool, agent: Agent, arguments: dict[str, Any], *, person: User, by: Editor
) -> DirectResult:
    """Call a tool on an agent's memory and keep what it changes, written by `by`.

    LimitReached where other calls of this kind go on.
    """
    caller = Caller(agent, Step(run=Run(agent=agent)), "", by=by)
    stdout = ""
    takes_long = tool.outside or isinstance(tool, CustomTool)
    with one_at_a_time(person) if takes_long else nullcontext():
        try:
            if tool.ends_turn:
                raise ToolError("it speaks to the person, which only the agent does, in a run.")
            checked = tool.parse(json.dumps(arguments))
            if isinstance(tool, CustomTool):
                for _ in range(ATTEMPTS):
                    prepared = tool.prepare(agent, checked, by)
                    stdout = prepared.stdout
                    try:
                        with transaction.atomic():
                            return DirectResult(prepared.apply(caller).content, stdout=stdout)
                    except WriteConflict:
                        continue
                raise ToolFailure(busy(tool.name))
            if tool.outside:
                return DirectResult(tool.call(caller, checked).content)
            with transaction.atomic():
                return DirectResult(tool.call(caller, checked).content)
        except ToolFailure as failure:
            return DirectResult(str(failure), True, stdout)
        except (ToolError, MemoryRefusal) as error:
            return DirectResult(f"{failed(tool.name)}: {error}", True, stdout)
