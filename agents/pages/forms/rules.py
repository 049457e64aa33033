"""The form of the rules for an agent's tool, and the rules in words."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext, gettext_noop, ngettext
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from agents.tools.attaching import asks_by_default
from agents.tools.rules import TYPES, Rule, Rules

PLAIN = ["run_first", "exit_loop", "continue_loop", "required_before_exit", "requires_approval"]
FOLLOWED = {
    "constrain_child_tools": gettext_noop("must be followed by %(names)s"),
    "parent_last_tool": gettext_noop("must come right before %(names)s"),
}


class RulesForm(forms.Form):
    """The rules for one of an agent's tools."""

    exit_loop = forms.BooleanField(
        required=False, label=_("Ends the turn"), help_text=_("The agent stops after it.")
    )
    continue_loop = forms.BooleanField(
        required=False,
        label=_("Lets the turn go on"),
        help_text=_("The agent gets one more step after it."),
    )
    required_before_exit = forms.BooleanField(
        required=False,
        label=_("Must be called before the turn ends"),
        help_text=_("Until then the agent cannot answer."),
    )
    run_first = forms.BooleanField(
        required=False,
        label=_("Must come first"),
        help_text=_("A run begins with this, or with another one that must come first."),
    )
    requires_approval = forms.BooleanField(
        required=False,
        label=_("Needs approval"),
        help_text=_("You see each call before it is made."),
    )
    max_count_limit = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=1000,
        label=_("Most calls in a run"),
        error_messages={"min_value": _("Give a number of calls, 1 or more, or leave it empty.")},
    )
    children = forms.MultipleChoiceField(
        required=False, label=_("Must be followed by one of"), widget=forms.CheckboxSelectMultiple
    )
    unlocks = forms.MultipleChoiceField(
        required=False,
        label=_("Must come right before any of"),
        help_text=_("They may be called only right after it, and nothing else may."),
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, *args: Any, agent: Agent, name: str, **kwargs: Any) -> None:
        self.agent, self.name = agent, name
        self.stored = [rule for rule in agent.tool_rules if rule["tool_name"] == name]
        self.by_default = asks_by_default(agent, name)
        kinds = {rule["type"] for rule in self.stored}
        kwargs["initial"] = {kind: kind in kinds for kind in PLAIN} | {
            "requires_approval": Rules(self.stored).asks(name, by_default=self.by_default),
            "max_count_limit": most(self.stored),
            "children": children(self.stored, "constrain_child_tools"),
            "unlocks": children(self.stored, "parent_last_tool"),
        }
        super().__init__(*args, **kwargs)
        for field in (self.fields["children"], self.fields["unlocks"]):
            assert isinstance(field, forms.MultipleChoiceField)
            field.choices = [(each, each) for each in agent.tools]

    def rules(self) -> list[Rule]:
        """The rules, as `agents/tools/rules.py` has them; what else a rule said stays in it, and
        so do those about a tool's return, which no form makes."""
        cleaned = self.cleaned_data
        rules_by_kind: dict[str, Rule] = {kind: {} for kind in PLAIN if cleaned[kind]}
        stored = {rule["type"]: rule for rule in self.stored}
        if self.by_default and "requires_approval" not in rules_by_kind:
            rules_by_kind["no_approval"] = {}
        elif self.by_default and "requires_approval" not in stored:
            del rules_by_kind["requires_approval"]  # the tool itself says it
        for kind, field in (("constrain_child_tools", "children"), ("parent_last_tool", "unlocks")):
            if cleaned[field]:
                rules_by_kind[kind] = {"children": cleaned[field]}
        if cleaned["max_count_limit"]:
            rules_by_kind["max_count_per_step"] = {"max_count_limit": cleaned["max_count_limit"]}
        by_return = [rule for rule in self.stored if rule["type"] == "conditional"]
        return by_return + [
            {**stored.get(kind, {}), "type": kind, "tool_name": self.name, **more}
            for kind, more in rules_by_kind.items()
        ]


def most(rules: list[Rule]) -> int | None:
    """How often a tool may be called in a run, by its rules."""
    limits = [r["max_count_limit"] for r in rules if r["type"] == "max_count_per_step"]
    return min(limits, default=None)


def children(rules: list[Rule], kind: str) -> list[str]:
    """The tools that a tool's rules of a kind name besides it."""
    names = [child for rule in rules if rule["type"] == kind for child in rule["children"]]
    return list(dict.fromkeys(names))


def in_words(rules: list[Rule]) -> list[str]:
    """A tool's rules as a person says them."""
    kinds = {rule["type"] for rule in rules}
    phrases = [gettext(TYPES[kind]) for kind in (*PLAIN, "no_approval") if kind in kinds]
    if limit := most(rules):
        times = ngettext("at most once a run", "at most %(count)s times a run", limit)
        phrases.append(times % {"count": limit})
    for kind, words in FOLLOWED.items():
        if named := children(rules, kind):
            phrases.append(gettext(words) % {"names": gettext(" or ").join(named)})
    return phrases + [by_return(rule) for rule in rules if rule["type"] == "conditional"]


def by_return(rule: Rule) -> str:
    """A rule about a tool's return, as a person says it."""
    after = gettext("%(tool)s after “%(returned)s”")
    mapped = rule["child_output_mapping"].items()
    phrases = [after % {"tool": child, "returned": each} for each, child in mapped]
    if default := rule.get("default_child"):
        phrases.append(gettext("else %(tool)s") % {"tool": default})
    elif rule.get("require_output_mapping"):
        phrases.append(gettext("else the run fails"))
    return gettext("is followed by %(tools)s") % {"tools": ", ".join(phrases)}
