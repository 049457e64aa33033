"""Tool rules: what an agent may call when, and what a call means for the turn.

A rule is an object as Letta's clients send it, with `tool_name` and `type`:

    exit_loop                 the turn ends after the tool
    continue_loop             the turn goes on after the tool
    required_before_exit      the turn does not end before the tool was called
    run_first                 the first call of a run must be one of these
    constrain_child_tools     the next call must be one of `children`
    conditional               the next call must be the one that `child_output_mapping` has for what
                              the tool returned, or else `default_child`; where there is neither,
                              any may be called, or, with `require_output_mapping`, the run fails
    parent_last_tool          `children` may be called right after the tool only, and only they may
    max_count_per_step        at most `max_count_limit` calls in a run
    requires_approval         a person approves each call
    no_approval               no person does, though the tool's own setting says that one must
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext, gettext_noop

from agents.text.stored import stored

NO_RULE = stored(gettext_noop("No rule says what follows %(tool)s, which returned '%(answer)s'."))
TYPES = {
    "exit_loop": gettext_noop("ends the turn"),
    "continue_loop": gettext_noop("lets the turn go on"),
    "required_before_exit": gettext_noop("must be called before the turn ends"),
    "run_first": gettext_noop("must come first"),
    "constrain_child_tools": gettext_noop("must be followed by one of"),
    "conditional": gettext_noop("is followed by what its return says"),
    "parent_last_tool": gettext_noop("must come right before any of"),
    "max_count_per_step": gettext_noop("has a maximum number of calls in a run"),
    "requires_approval": gettext_noop("needs approval"),
    "no_approval": gettext_noop("needs no approval, whatever the tool says"),
}
WITH_CHILDREN = ("constrain_child_tools", "parent_last_tool")
Rule = dict[str, Any]


@dataclass(frozen=True)
class Rules:
    """An agent's rules. `called` are the tools a run has called with success, in order.

    `returned` gives what the last of them returned; `ending` are the tools that end a turn without
    a rule.
    """

    rules: Sequence[Rule]
    returned: Callable[[], str] = str
    ending: Collection[str] = ()

    # -- the turn ------------------------------------------------------------------------------

    def ends(self, name: str) -> bool:
        """Whether the turn ends after this tool."""
        by_itself = name in self.ending and not self.goes_on(name)
        return by_itself or any(self._of("exit_loop", name))

    def goes_on(self, name: str) -> bool:
        """Whether the turn goes on after this tool, whatever else would end it there."""
        return any(self._of("continue_loop", name))

    def missing(self, called: Sequence[str]) -> list[str]:
        """The tools without which the turn may not end yet."""
        required = "required_before_exit"
        names = [rule["tool_name"] for rule in self.rules if rule["type"] == required]
        return [name for name in names if name not in called]

    def asks(self, name: str, *, by_default: bool = False) -> bool:
        """Whether a person must approve each call; `by_default`: the tool itself says so."""
        return any(self._of("requires_approval", name)) or (
            by_default and not any(self._of("no_approval", name))
        )

    # -- what comes next -----------------------------------------------------------------------

    def bound(self, called: Sequence[str]) -> list[str]:
        """The tools of which one must be called next; [] where the model is free."""
        if called:
            following = self._of("constrain_child_tools", called[-1])
            by_return = filter(None, map(self._child, self._of("conditional", called[-1])))
            return [*(child for rule in following for child in rule["children"]), *by_return]
        return [rule["tool_name"] for rule in self.rules if rule["type"] == "run_first"]

    def must_call(self, called: Sequence[str]) -> bool:
        """Whether the model must call a tool next, and not just talk."""
        return bool(self.bound(called) or self.missing(called))

    def stuck(self, called: Sequence[str]) -> str:
        """Why nothing can follow on the last call, in a sentence; "" if something can."""
        for rule in self._of("conditional", called[-1]) if called else []:
            if rule.get("require_output_mapping") and self._mapped(rule) is None:
                returned = self.returned()[:100]
                return NO_RULE % {"tool": called[-1], "answer": returned}
        return ""

    def offered(self, names: Sequence[str], called: Sequence[str]) -> list[str]:
        """Those of the tools that may be called next."""
        return [name for name in names if not self.refusal(name, called)]

    def refusal(self, name: str, called: Sequence[str]) -> str:
        """Why a tool may not be called now, in a sentence; "" if it may."""
        if stuck := self.stuck(called):
            return stuck
        bound = self.bound(called)
        if bound and name not in bound:
            when = f"after {called[-1]}" if called else "first"
            return f"A rule says that one of these must be called {when}: {', '.join(bound)}."
        missing = self.missing(called)
        if name not in bound and name not in missing and missing and self.ends(name):
            return f"A rule says that these must be called before {name}: {', '.join(missing)}."
        return self._out_of_place(name, called) or self._too_often(name, called)

    def _out_of_place(self, name: str, called: Sequence[str]) -> str:
        """Why a tool may not be called here, by the rules about what comes right before."""
        before = [rule for rule in self.rules if rule["type"] == "parent_last_tool"]
        parents = [rule["tool_name"] for rule in before if name in rule["children"]]
        if parents and not set(parents) & set(called[-1:]):
            return f"A rule says that {name} may only be called right after {' or '.join(parents)}."
        follow = [child for r in before if r["tool_name"] in called[-1:] for child in r["children"]]
        if follow and name not in follow:
            return f"A rule says that only {', '.join(follow)} may be called after {called[-1]}."
        return ""

    def _too_often(self, name: str, called: Sequence[str]) -> str:
        for rule in self._of("max_count_per_step", name):
            most = rule["max_count_limit"]
            if called.count(name) >= most:
                times = "once" if most == 1 else f"{most} times"
                return f"A rule says that {name} may be called at most {times} in a run."
        return ""

    def _mapped(self, rule: Rule) -> str | None:
        """The tool that a conditional rule has for what was returned."""
        child: str | None = rule["child_output_mapping"].get(self.returned().strip())
        return child

    def _child(self, rule: Rule) -> str | None:
        """The tool that follows by a conditional rule; None where any may."""
        return self._mapped(rule) or rule.get("default_child")

    def _of(self, kind: str, name: str) -> list[Rule]:
        return [rule for rule in self.rules if rule["type"] == kind and rule["tool_name"] == name]


# -- checked -----------------------------------------------------------------------------------


def problem(rules: Any, names: Sequence[str] | None = None) -> str:
    """What is wrong with rules, in a sentence; "" if nothing is. `names` are the agent's tools."""
    if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
        return gettext("Tool rules must be a list of objects.")
    for rule in rules:
        if sentence := problem_in(rule):
            return sentence
        for name in tools_named_in(rule):
            if names is not None and name not in names:
                words = gettext("A rule names the tool '%(name)s', which the agent does not have.")
                return words % {"name": name}
    return ""


def problem_in(rule: Rule) -> str:
    """What is wrong with a rule by itself."""
    kind, tool = rule.get("type"), rule.get("tool_name")
    if not isinstance(kind, str) or kind not in TYPES:
        words = gettext("There is no tool rule %(kind)s. The rules are: %(rules)s.")
        return words % {"kind": repr(kind), "rules": ", ".join(TYPES)}
    if not isinstance(tool, str):
        return gettext("The rule %(kind)s needs a tool's name as 'tool_name'.") % {"kind": kind}
    return missing_in(rule, kind) % {"tool": tool}


def missing_in(rule: Rule, kind: str) -> str:
    """What is wrong with a rule of a kind, a sentence with the place of the tool's name."""
    if rule.get("child_arg_nodes") or rule.get("args"):
        return gettext(
            "The rule for %(tool)s sets arguments, which is not supported here; leave them out."
        )
    if kind in WITH_CHILDREN and not texts(rule.get("children")):
        return gettext("The rule for what follows %(tool)s needs a list of tools as 'children'.")
    if kind == "conditional":
        mapping, default = rule.get("child_output_mapping"), rule.get("default_child")
        if not isinstance(mapping, dict) or not texts(list(mapping.values())):
            return gettext(
                "The rule for what follows %(tool)s needs 'child_output_mapping': return → tool."
            )
        if not isinstance(default, str | None):
            return gettext(
                "The rule for what follows %(tool)s needs a tool's name as 'default_child'."
            )
    most = rule.get("max_count_limit")
    if kind == "max_count_per_step" and (type(most) is not int or most < 1):
        return gettext(
            "The rule for %(tool)s needs a number of calls, 1 or more, as 'max_count_limit'."
        )
    return ""


def texts(value: Any) -> bool:
    """Whether this is a list of texts, with one at least."""
    return isinstance(value, list) and bool(value) and all(isinstance(each, str) for each in value)


def tools_named_in(rule: Rule) -> list[str]:
    """The tools that a rule names."""
    default = rule.get("default_child")
    names = [rule["tool_name"], *rule.get("children", []), *([default] if default else [])]
    return [*names, *rule.get("child_output_mapping", {}).values()]


# -- approval: a tool's own setting, and what an agent's rules make of it --------------------------


def with_approval(
    rules: Sequence[Rule], name: str, needed: bool, *, by_default: bool
) -> list[Rule]:
    """The rules after a person said whether calls of a tool need approval.

    `by_default`: the tool itself says so, which takes a rule to be otherwise.
    """
    kinds = ("requires_approval", "no_approval")
    kept = [rule for rule in rules if rule["tool_name"] != name or rule["type"] not in kinds]
    if needed or by_default:
        kept.append({"type": kinds[0] if needed else kinds[1], "tool_name": name})
    return kept


def on_the_wire(rules: Sequence[Rule], asking: Iterable[str]) -> list[Rule]:
    """The rules as Letta's clients know them; `asking` are the tools that need approval by default.

    They have no rule against a tool's own setting: where it holds, they see a rule for it.
    """
    shown = [rule for rule in rules if rule["type"] != "no_approval"]
    held = Rules(rules)
    added = [name for name in asking if not held.asks(name) and held.asks(name, by_default=True)]
    return shown + [{"type": "requires_approval", "tool_name": name} for name in added]


def replaced(old: Sequence[Rule], new: Sequence[Rule]) -> list[Rule]:
    """New rules in place of the old ones, by a client that cannot see `no_approval`: it stays."""
    asking = [rule["tool_name"] for rule in new if rule["type"] == "requires_approval"]
    hidden = [rule for rule in old if rule["type"] == "no_approval" and rule not in new]
    return [*new, *(rule for rule in hidden if rule["tool_name"] not in asking)]


# -- kept in keeping with an agent's tools -------------------------------------------------------


def without(rules: Sequence[Rule], name: str) -> list[Rule]:
    """The rules without a tool: those for it go, and it is no longer what must follow others."""
    kept = []
    for rule in rules:
        rule = dict(rule)
        for field in ("children", "child_output_mapping"):
            if field in rule:
                rule[field] = children_without(rule[field], name)
        if rule.get("default_child") == name:
            del rule["default_child"]
        if rule["tool_name"] != name and all(rule.get(field) != empty for field, empty in EMPTY):
            kept.append(rule)
    return kept


EMPTY: list[tuple[str, Any]] = [("children", []), ("child_output_mapping", {})]


def children_without(children: Any, name: str) -> Any:
    """What follows, without a tool."""
    if isinstance(children, dict):
        return {returned: child for returned, child in children.items() if child != name}
    return [child for child in children if child != name]


def renamed(rules: Sequence[Rule], old: str, new: str) -> list[Rule]:
    """The rules with a tool under its new name."""
    return mapped(rules, {old: new})


def mapped(rules: Sequence[Rule], names: dict[str, str]) -> list[Rule]:
    """The rules with tools under other names."""

    def other(value: Any) -> Any:
        if isinstance(value, dict):
            return {returned: other(child) for returned, child in value.items()}
        if isinstance(value, list):
            return [other(child) for child in value]
        return names.get(value, value) if isinstance(value, str) else value

    fields = ("tool_name", "children", "child_output_mapping", "default_child")
    return [
        {key: other(value) if key in fields else value for key, value in rule.items()}
        for rule in rules
    ]
