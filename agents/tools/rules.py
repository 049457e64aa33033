"""Tool rules: what an agent may call when, and what a call means for the turn.

A rule is an object as Letta's clients send it, with `tool_name` and `type`:

    exit_loop                 the turn ends after the tool
    run_first                 the first call of a run must be one of these
    constrain_child_tools     the next call must be one of `children`
    max_count_per_step        at most `max_count_limit` calls in a run
    requires_approval         a person approves each call
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

TYPES = {
    "exit_loop": "ends the turn",
    "run_first": "must come first",
    "constrain_child_tools": "must be followed by one of",
    "max_count_per_step": "at most so often in a run",
    "requires_approval": "needs approval",
}
Rule = dict[str, Any]


@dataclass(frozen=True)
class Rules:
    """An agent's rules. `called` are the tools a run has called with success, in order."""

    rules: Sequence[Rule]

    def ends(self, name: str) -> bool:
        """Whether the turn ends after this tool."""
        return any(self._of("exit_loop", name))

    def asks(self, name: str) -> bool:
        """Whether a person must approve each call."""
        return any(self._of("requires_approval", name))

    def bound(self, called: Sequence[str]) -> list[str]:
        """The tools of which one must be called next; [] where the model is free."""
        if called:
            return [
                child
                for rule in self._of("constrain_child_tools", called[-1])
                for child in rule["children"]
            ]
        return [rule["tool_name"] for rule in self.rules if rule["type"] == "run_first"]

    def offered(self, names: Sequence[str], called: Sequence[str]) -> list[str]:
        """Those of the tools that may be called next."""
        return [name for name in names if not self.refusal(name, called)]

    def refusal(self, name: str, called: Sequence[str]) -> str:
        """Why a tool may not be called now, in a sentence; "" if it may."""
        bound = self.bound(called)
        if bound and name not in bound:
            when = f"after {called[-1]}" if called else "first"
            return f"A rule says that {when} one of these must be called: {', '.join(bound)}."
        for rule in self._of("max_count_per_step", name):
            most = rule["max_count_limit"]
            if called.count(name) >= most:
                times = "once" if most == 1 else f"{most} times"
                return f"A rule says that {name} may be called at most {times} in a run."
        return ""

    def _of(self, kind: str, name: str) -> list[Rule]:
        return [rule for rule in self.rules if rule["type"] == kind and rule["tool_name"] == name]


def wrong(rules: Any, names: Sequence[str] | None = None) -> str:
    """What is wrong with rules, in a sentence; "" if nothing is. `names` are the agent's tools."""
    if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
        return "Tool rules are a list of objects."
    for rule in rules:
        if rule.get("type") not in TYPES:
            return f"There is no tool rule {rule.get('type')!r}; there are {', '.join(TYPES)}."
        if not isinstance(rule.get("tool_name"), str):
            return f"The rule {rule['type']} names no tool."
        named = [rule["tool_name"]]
        if rule["type"] == "constrain_child_tools":
            children = rule.get("children")
            if not isinstance(children, list) or not children:
                return f"The rule for what follows {rule['tool_name']} names no tools."
            named += children
        most = rule.get("max_count_limit")
        if rule["type"] == "max_count_per_step" and (type(most) is not int or most < 1):
            return f"The rule for {rule['tool_name']} needs a number of calls, 1 or more."
        for name in named:
            if names is not None and name not in names:
                return f"A rule names the tool {name!r}, which the agent does not have."
    return ""
