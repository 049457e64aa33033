"""A call of a custom tool, in two parts: it runs on staged memory, then its changes are written.

`prepare` runs the tool in the sandbox, outside any transaction. `Prepared.apply` writes its changes
inside the transaction that stores its return, and raises WriteConflict where somebody wrote to the
same blocks meanwhile: then prepare again. A call that was only prepared has changed nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from agents.models import Agent, Editor, Passage
from agents.models.secrets import decrypted
from agents.models.tool import Tool as Row
from agents.text.json_blocks import misfit

from ..tool import (
    HEARTBEAT,
    Caller,
    Outcome,
    Tool,
    ToolError,
    ToolFailure,
    arguments_of,
    failed,
)
from . import sandbox
from .annotations import SourceError
from .letta_shim import AgentState, client_of, exposed
from .outcome import cut
from .program import program
from .source import Definition, read_tool
from .staged import Change, StagedMemory, WriteConflict

logger = logging.getLogger(__name__)
ATTEMPTS = 5  # to keep a call's changes while others write to the same blocks
PYDANTIC = {"BaseModel": None, "Field": lambda *_, **__: None}  # see `program`


@dataclass(frozen=True)
class Prepared:
    """A call that has run: what it returned or how it failed, what it printed, what it changes."""

    returned: str
    stdout: str
    error: str
    staged: StagedMemory

    @property
    def changes(self) -> list[Change]:
        """What it would write to blocks; nothing if it failed."""
        return [] if self.error else self.staged.changes()

    @property
    def passages(self) -> list[Passage]:
        """What it would insert into archival memory; nothing if it failed."""
        return [] if self.error else self.staged.passages

    def apply(self, caller: Caller) -> Outcome:
        """Write what changed and give back what the tool returned.

        Inside the transaction of the call's return. Raises ToolError if the tool failed,
        WriteConflict if a block it read or wrote was changed by somebody else since it was
        prepared, MemoryRefusal if a change cannot be made after all.
        """
        if self.error:
            raise ToolFailure(self.error)
        return Outcome(self.returned, self.staged.write_back(caller.editor))


@dataclass(frozen=True)
class CustomTool(Tool):
    """A tool that somebody wrote: run in the sandbox."""

    row: Row | None = None
    definition: Definition | None = None

    def parse(self, text: str, *, heartbeat: bool = False) -> dict[str, Any]:
        """As any tool's; where a script sent the schema, the arguments have to fit that as well."""
        checked = super().parse(text, heartbeat=heartbeat)
        assert self.row
        assert self.definition
        if not self.row.given_schema:
            return checked
        given = arguments_of(text)
        if heartbeat:
            given.pop(HEARTBEAT, None)
        schema_name = gettext("the schema of the arguments")
        if problem := misfit(self.schema["parameters"], given, schema_name):
            words = gettext("%(tool)s was not called: %(reason)s.")
            raise ToolError(words % {"tool": self.name, "reason": problem})
        own = self.definition.defaulted - given.keys()  # for the function to fill in
        return {name: value for name, value in checked.items() if name not in own}

    def prepare(
        self, agent: Agent, arguments: dict[str, Any], by: Editor | None = None
    ) -> Prepared:
        """Run it with checked arguments (see `parse`), changing nothing."""
        assert self.row
        return prepare(self.row, agent, arguments, by)


def own_tools(agent: Agent, names: Collection[str]) -> dict[str, Tool]:
    """The tools of these names that the agent's owner wrote."""
    tools: dict[str, Tool] = {}
    for row in Row.objects.filter(owner_id=agent.owner_id, name__in=names):
        try:
            tools[row.name] = from_row(row)
        except SourceError as error:
            logger.warning("The tool %s (%s) cannot be used: %s", row.name, row.pk, error)
    return tools


def from_row(row: Row) -> CustomTool:
    """A stored tool as one that an agent may call. SourceError if its source is not a tool's."""
    definition = read_tool(row)

    def call(caller: Caller, **arguments: Any) -> Outcome:
        """Both parts at once, for whoever is inside the transaction already."""
        for _ in range(ATTEMPTS):
            try:
                return prepare(row, caller.agent, arguments).apply(caller)
            except WriteConflict:
                continue
        raise ToolError(busy(row.name))

    return CustomTool(
        row.name,
        row.description,
        call,
        definition.arguments,
        schema=row.json_schema,
        needs_approval=row.default_requires_approval,
        row=row,
        definition=definition,
    )


def prepare(
    row: Row, agent: Agent, arguments: dict[str, Any], by: Editor | None = None
) -> Prepared:
    """Run a tool with checked arguments on a staged copy of the agent's memory; `by`: for whom,
    where it is not the agent who calls.

    Where there is no sandbox to run it in, it has failed, and says so.
    """
    definition = read_tool(row)
    limits = sandbox.limits_of(row)
    staged = StagedMemory(agent, by)
    code, inputs = program(row.source, definition, arguments, row.return_char_limit)
    try:
        result = sandbox.run(
            code,
            person=agent.owner_id,
            inputs=inputs | {"_agent_state": exposed(AgentState._of(staged))},
            modules={"letta_client": {"Letta": client_of(staged)}, "pydantic": PYDANTIC},
            limits=limits,
            environment=decrypted(agent.secrets),
        )
    except sandbox.Unavailable as error:
        return Prepared("", "", str(error), staged)
    failure = failure_of(row, result)
    text, length = ("", 0) if failure else result.value
    returned = cut(text, length, row.return_char_limit)
    return Prepared(returned, str(result.printed), failure, staged)


def failure_of(row: Row, result: sandbox.SandboxResult) -> str:
    """How the tool failed, in a sentence; "" if it did not."""
    error = result.error
    if not error and not _is_text(result.value):
        error = "what it returned cannot be shown as text"
    if not error:
        return ""
    lines = row.source.count("\n") + 1
    line = next((number for number in result.lines if number <= lines), 0)
    at = f" (line {line} of its source)" if line else ""
    return cut(f"{failed(row.name)}: {error}{at}; nothing was changed", limit=10_000)


def _is_text(value: Any) -> bool:
    """Whether it is what `program` says, whatever the tool did to `str` and `len`."""
    match value:
        case (str(), int()):
            return True
    return False


def busy(name: str) -> str:
    return (
        f"{name} changed nothing: the blocks it uses were changed by others each time it ran."
        " Call it again."
    )
