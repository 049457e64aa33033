"""A tool is a function: its signature is the schema, its docstring the description.

The first parameter is the `Caller`; the rest are what the model fills in. Arguments are checked
against the signature by pydantic; what the model did wrong comes back to it in a sentence.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, get_type_hints, overload

from django.utils.translation import gettext
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from agents.models import Agent, BlockEdit, Editor, Step

HEARTBEAT = "request_heartbeat"


class ToolError(Exception):
    """Why a call was not made, in words for the model."""


class ToolFailure(ToolError):
    """How a call broke off, as a whole sentence; see `failed`."""


def failed(name: str) -> str:
    """How such a sentence begins: the words that Letta's scripts look for."""
    return f"Error executing function {name}"


@dataclass(frozen=True)
class Caller:
    """Who calls: the agent, in one of its steps, by one tool call."""

    agent: Agent
    step: Step
    call_id: str
    approved: bool = False
    by: Editor | None = None  # where it is not the agent who calls

    @property
    def payer_id(self) -> int:
        """On whose quotas it counts what the call asks of models."""
        return self.step.run.payer_id

    @property
    def editor(self) -> Editor:
        """Who writes to memory when this call does."""
        return self.by or Editor.agent(self.step, self.call_id, approved=self.approved)


class Outcome(NamedTuple):
    """What a tool returned, and the block edits it made."""

    content: str
    edits: Sequence[BlockEdit] = ()


class Ready(NamedTuple):
    """What a tool came to that ran outside the transaction of its return; see `Tool.outside`."""

    outcome: Outcome
    failure: Exception | None = None
    stdout: str = ""

    def apply(self, caller: Caller) -> Outcome:
        """The outcome; what the tool failed with is raised again."""
        if self.failure:
            raise self.failure
        return self.outcome


Function = Callable[..., str | Outcome]  # takes the caller, then what the model fills in


def here() -> str:
    """What keeps a tool from working on this server: nothing."""
    return ""


@dataclass(frozen=True)
class Tool:
    """A function an agent may call.

    `family` is what Letta calls its type. `yields`: a person's own tool of this name goes before
    it. `outside`: it takes its time and uses no database, so it runs outside the transaction of its
    return. `of_memory`: it reads or writes the agent's memory. `missing` says why it does not work
    on this server, "" if it does.
    """

    name: str
    description: str
    function: Function
    arguments: type[BaseModel]
    ends_turn: bool = False
    schema: dict[str, Any] = field(default_factory=dict)
    needs_approval: bool = False
    family: str = "letta_core"
    yields: bool = False
    outside: bool = False
    of_memory: bool = False
    missing: Callable[[], str] = here

    def call(self, caller: Caller, arguments: dict[str, Any]) -> Outcome:
        """Carry a call out with checked arguments (see `parse`)."""
        outcome = self.function(caller, **arguments)
        return outcome if isinstance(outcome, Outcome) else Outcome(outcome)

    def try_call(self, caller: Caller, arguments: dict[str, Any]) -> Ready:
        """Carry a call out and keep how it failed, if it did, for `apply`."""
        try:
            return Ready(self.call(caller, arguments))
        except Exception as error:  # whatever it is, the model is told
            return Ready(Outcome(""), error)

    def parse(self, text: str, *, heartbeat: bool = False) -> dict[str, Any]:
        """The arguments in a model's text, checked; ToolError where they do not fit.

        With `heartbeat` they may ask for one, which the function does not take.
        """
        arguments = self.read(text)
        if heartbeat:
            arguments.pop(HEARTBEAT, None)
        try:
            checked = self.arguments.model_validate(arguments, strict=True)
        except ValidationError as error:
            words = gettext("%(tool)s was not called: %(reason)s.")
            raise ToolError(words % {"tool": self.name, "reason": in_words(error)}) from None
        return dict(checked)

    def read(self, text: str) -> dict[str, Any]:
        """The arguments in a model's text as they are; ToolError where they are no JSON object."""
        try:
            arguments = json.loads(text or "{}")
        except (ValueError, RecursionError) as error:
            words = gettext("The arguments of %(tool)s are not JSON (%(error)s).")
            raise ToolError(words % {"tool": self.name, "error": error}) from None
        if not isinstance(arguments, dict):
            words = gettext(
                "The arguments of %(tool)s are a %(type)s, not a JSON object of names and values."
            )
            raise ToolError(words % {"tool": self.name, "type": type(arguments).__name__})
        return arguments

    @property
    def takes_heartbeat(self) -> bool:
        """Whether a call may ask for a further step: what ends the turn cannot."""
        return not self.ends_turn


def arguments_of(text: str) -> dict[str, Any]:
    """The arguments in a model's text, unchecked; {} where they are no JSON object."""
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return arguments if isinstance(arguments, dict) else {}


_registry: dict[str, Tool] = {}


def get(name: str) -> Tool:
    """The tool of that name; ToolError if there is none."""
    try:
        return _registry[name]
    except KeyError:
        raise ToolError(f"There is no tool '{name}'.") from None


def names() -> list[str]:
    """All tools there are."""
    return list(_registry)


def reserved() -> list[str]:
    """The names that nobody's own tool can have, as the built-in one goes before it."""
    return [name for name, tool in _registry.items() if not tool.yields]


@overload
def tool(function: Function) -> Function: ...
@overload
def tool(**settings: Any) -> Callable[[Function], Function]: ...
def tool(function: Function | None = None, **settings: Any) -> Any:
    """Make a function a tool; `settings` are fields of `Tool`."""

    def register(function: Function) -> Function:
        registered = from_function(function, **settings)
        _registry[registered.name] = registered
        return function

    return register(function) if function else register


def from_function(function: Function, **settings: Any) -> Tool:
    """Read a tool off its function's name, signature and docstring."""
    summary, described = read_docstring(inspect.getdoc(function) or "")
    hints = get_type_hints(function)
    fields: dict[str, Any] = {}
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        default = ... if parameter.default is parameter.empty else parameter.default
        about = Field(default, description=described.get(parameter.name))
        fields[parameter.name] = (hints[parameter.name], about)
    arguments = create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)
    parameters = without_titles(arguments.model_json_schema())
    schema = {"name": function.__name__, "description": summary, "parameters": parameters}
    return Tool(function.__name__, summary, function, arguments, schema=schema, **settings)


def read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """A Google-style docstring's description, and what it says of each argument."""
    summary, _, rest = text.partition("\nArgs:\n")
    arguments = re.split(r"\n\n|\nReturns:", rest)[0]
    found = re.findall(r"^ {4}(\w+)(?: \(.*?\))?: (.*(?:\n {5,}.*)*)", arguments, re.MULTILINE)
    return " ".join(summary.split()), {name: " ".join(about.split()) for name, about in found}


def without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without the titles pydantic adds."""
    schema.pop("title", None)
    for value in schema.get("properties", {}).values():
        value.pop("title", None)
    return schema


def in_words(error: ValidationError) -> str:
    """What is wrong with the arguments, in words."""
    sentences = {
        "missing": gettext("the argument '%(name)s' is missing"),
        "extra_forbidden": gettext("there is no argument '%(name)s'"),
        "string_type": gettext("the argument '%(name)s' must be a string"),
    }
    other = gettext("the argument '%(name)s': %(error)s")
    return "; ".join(
        sentences.get(e["type"], other) % {"name": ".".join(map(str, e["loc"])), "error": e["msg"]}
        for e in error.errors()
    )
