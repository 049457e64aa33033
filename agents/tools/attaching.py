"""Which agents have which tools: attached, detached, renamed; and the rules that go with them.

An agent names its tools in `Agent.tools` and rules for them in `Agent.tool_rules`; every verb here
leaves the two in keeping with each other.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext

from agents.memory.classes import CLASSES, Memory
from agents.models import Agent, Event
from agents.models.tool import Tool as Row

from . import rules
from .memory_methods import method_tools
from .tool import get, names, reserved

if TYPE_CHECKING:
    from django.contrib.auth.models import User

Rule = rules.Rule


class ChangedMeanwhile(Exception):
    """Somebody changed the tool since it was read."""


# -- an agent's tools --------------------------------------------------------------------------


def attachable(agent: Agent) -> dict[str, list[str]]:
    """What the agent could have and has not: built-in tools, its memory's methods, its owner's, and
    those that do not work on this server."""
    methods = list(method_tools(CLASSES.get(agent.memory_class, Memory)))
    own = Row.objects.filter(owner_id=agent.owner_id).values_list("name", flat=True)
    missing = [name for name in names() if get(name).missing()]
    yielding = [name for name in names() if name not in missing]
    held = set(agent.tools)
    found: dict[str, list[str]] = {"built_in": [], "method": [], "custom": [], "missing": []}
    for kind, offered in (
        ("built_in", reserved()),
        ("method", methods),
        ("custom", own),
        ("built_in", yielding),
        ("missing", missing),
    ):
        more = [name for name in offered if name not in held]
        found[kind] += more
        held |= set(more)  # one name is one tool; the first of them wins in `of_agent`
    return found


@transaction.atomic
def attach(agent: Agent, name: str) -> None:
    """Let the agent call a tool. ValidationError where there is none of that name for it."""
    lock_tools_of(agent.owner)
    agent = agent.locked()
    if name in agent.tools:
        return
    if not any(name in names for names in attachable(agent).values()):
        words = gettext("There is no tool '%(tool)s' that %(agent)s can have.")
        raise ValidationError(words % {"tool": name, "agent": agent.name})
    agent.configure(tools=[*agent.tools, name])


@transaction.atomic
def detach(agent: Agent, name: str) -> None:
    """Take a tool from the agent, and the rules that name it."""
    agent = agent.locked()
    if name in agent.tools:
        agent.configure(
            tools=[each for each in agent.tools if each != name],
            tool_rules=rules.without(agent.tool_rules, name),
        )


@transaction.atomic
def set_rules(agent: Agent, name: str, new: list[Rule]) -> None:
    """Make these the rules for one of the agent's tools; those for others stay.

    ValidationError where they are not rules for a tool the agent has.
    """
    agent = agent.locked()
    if problem := rules.problem(new, agent.tools):
        raise ValidationError(problem)
    others = [rule for rule in agent.tool_rules if rule["tool_name"] != name]
    agent.configure(tool_rules=[*others, *new])


@transaction.atomic
def set_approval(agent: Agent, name: str, needed: bool) -> None:
    """Say whether a person must approve each call of one of the agent's tools."""
    agent = agent.locked()
    by_default = asks_by_default(agent, name)
    agent.configure(
        tool_rules=rules.with_approval(agent.tool_rules, name, needed, by_default=by_default)
    )


def asks_by_default(agent: Agent, name: str) -> bool:
    """Whether a tool of this name, in this agent, is one whose own setting asks for approval."""
    methods = method_tools(CLASSES.get(agent.memory_class, Memory))
    own = Row.objects.filter(owner_id=agent.owner_id, name=name, default_requires_approval=True)
    return name not in reserved() and name not in methods and own.exists()


# -- a custom tool, and the agents that use it -------------------------------------------------


def used_by(owner: User, *, also_deleted: bool = False) -> dict[str, list[Agent]]:
    """Each tool's name → the owner's agents that have it."""
    found: dict[str, list[Agent]] = {}
    agents = Agent.objects.filter(owner=owner).only("name", "tools", "memory_class").order_by("pk")
    for agent in agents if also_deleted else agents.filter(deleted_at=None):
        for name in agent.tools:
            found.setdefault(name, []).append(agent)
    return found


@transaction.atomic
def create(owner: User, **fields: Any) -> Row:
    """Make a tool; ValidationError where it is none, or its name is taken."""
    lock_tools_of(owner)
    tool = Row(owner=owner, **fields)
    tool.full_clean()
    tool.save(force_insert=True)
    return tool


@transaction.atomic
def upsert(owner: User, source: str, **settings: Any) -> Row:
    """Make a tool of its source, or give the one of its name this source; its agents' pages hear.

    ValidationError where it is no tool.
    """
    tool = Row.from_source(owner, source, **settings)
    users = used_by(owner, also_deleted=True).get(tool.name, [])
    change_each(users, record_change)
    return tool


def record_change(agent: Agent) -> None:
    """Have the agent's pages draw its tools anew."""
    agent.record(Event.of(Event.Kind.AGENT_CHANGED))


@transaction.atomic
def rewrite(tool: Row, seen: datetime, **changes: Any) -> Row:
    """Change a stored tool; agents that use it keep it, also under a new name.

    `seen` is the `updated_at` of what the person began from. Raises ChangedMeanwhile if it has
    changed since, ValidationError where the tool cannot be so.
    """
    lock_tools_of(tool.owner)
    stored = Row.objects.get(pk=tool.pk)
    if stored.updated_at != seen:
        raise ChangedMeanwhile
    old = stored.name
    for field, value in changes.items():
        setattr(stored, field, value)
    stored.full_clean()
    users = used_by(stored.owner, also_deleted=True).get(old, [])
    if stored.name != old:
        refuse_taken(users, stored.name)
    stored.save()

    def keep(agent: Agent) -> None:
        if stored.name == old:
            record_change(agent)
            return
        agent.configure(
            tools=[stored.name if name == old else name for name in agent.tools],
            tool_rules=rules.renamed(agent.tool_rules, old, stored.name),
        )

    change_each(users, keep)
    return stored


@transaction.atomic
def remove(tool: Row) -> None:
    """Delete a tool; it leaves the agents that use it, and their rules."""
    lock_tools_of(tool.owner)
    change_each(
        used_by(tool.owner, also_deleted=True).get(tool.name, []),
        lambda agent: detach(agent, tool.name),
    )
    tool.delete()


def lock_tools_of(owner: User) -> None:
    """One change of a person's tools at a time, as `Tool.from_source` has it."""
    owner.__class__.objects.select_for_update(no_key=True).get(pk=owner.pk)


def change_each(agents: list[Agent], change: Callable[[Agent], None]) -> None:
    """Change agents in the order in which their rows may be locked."""
    for agent in agents:
        change(agent.locked())


def refuse_taken(agents: list[Agent], name: str) -> None:
    """ValidationError where one of the agents has another tool of that name."""
    for agent in agents:
        methods = method_tools(CLASSES.get(agent.memory_class, Memory))
        if name in agent.tools or name in methods:
            words = gettext(
                "The agent %(agent)s uses this tool and has another one called '%(tool)s'; give"
                " the function another name."
            )
            raise ValidationError(words % {"agent": agent.name, "tool": name})
