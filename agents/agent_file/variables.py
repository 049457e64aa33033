"""Variables of the environment in a file: their names, and rarely their values.

A file that is exported has the names alone. The values are given with the import or entered after
it; they become secrets of the agent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext

from agents.models.secrets import MOST, encrypted, problem

from .reading import AgentFileError, Entry, Notes, listed

FIELDS = ("tool_exec_environment_variables", "secrets")


class Variables:
    """The values that are given with an import, and the agents of the file that get them.

    An agent gets those that it names, and those that no agent of the file names.
    """

    def __init__(self, agents: Sequence[Entry], given: Mapping[str, str], notes: Notes) -> None:
        self.given, self.notes = given, notes
        named = {name for agent in agents for name in self.named(agent)}
        self.unnamed = {name: value for name, value in given.items() if name not in named}
        for name, value in given.items():
            if words := problem(name, value):
                raise AgentFileError(words)

    def named(self, agent: Entry) -> dict[str, str]:
        """The variables of an agent in the file; "" where it has no value."""
        found: dict[str, Any] = {}
        for field in FIELDS:
            for name, value in agent.entry(field).given.items():
                found[name] = value if isinstance(value, str) and value else found.get(name, "")
        return found

    def of(self, agent: Entry, name: str) -> tuple[dict[str, str], list[str]]:
        """The secrets of an agent as they are stored, and the names that still have no value."""
        named = self.named(agent)
        known = {each: self.given.get(each, value) for each, value in named.items()}
        known = {each: value for each, value in (known | self.unnamed).items() if value}
        wrong = [each for each, value in named.items() if problem(each, value)]
        missing = [each for each in named if each not in [*known, *wrong]]
        over = [*known, *missing][MOST:]
        if lost := list(dict.fromkeys(wrong + over)):
            words = gettext(
                "Environment variables of '%(agent)s' were not imported, as a secret cannot have"
                " such a name or value, or there are more than %(most)s: %(names)s."
            )
            self.notes.add(words % {"agent": name, "most": MOST, "names": listed(lost)})
        stored = {each: value for each, value in known.items() if each not in lost}
        if told := [each for each in stored if named.get(each) == stored[each]]:
            words = gettext(
                "The file holds values of environment variables, which are secrets of '%(agent)s'"
                " now: %(names)s. Whoever has the file can read them."
            )
            self.notes.add(words % {"agent": name, "names": listed(told)})
        if missing := [each for each in missing if each not in over]:
            words = gettext(
                "The file has no values of environment variables. Enter them in the secrets of"
                " '%(agent)s', for its custom tools: %(names)s."
            )
            self.notes.add(words % {"agent": name, "names": listed(missing, most=MOST)})
        return encrypted(stored), missing
