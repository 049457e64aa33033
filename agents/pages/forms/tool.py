"""Forms of tools: a custom tool's source and limits, and the rules for an agent's tool."""

from __future__ import annotations

import ast
import textwrap
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError

from agents.models import Agent
from agents.models.tool import LONGEST_RETURN, LONGEST_SOURCE, Tool
from agents.tools.attaching import asks_by_default
from agents.tools.custom import Definition, SourceError, read_tool
from agents.tools.rules import TYPES, Rule, Rules

from .agent import TextAsTyped

EXAMPLE = '''\
def note_deadline(agent_state: "AgentState", what: str, date: str, urgent: bool = False):
    """Note a deadline in core memory, so that it stays in view.

    Args:
        what (str): What has to be done.
        date (str): By when, as in 2027-03-31.
        urgent (bool): Whether it comes before everything else.

    Returns:
        str: How many lines the block has now.
    """
    block = agent_state.memory.get_block("human")
    line = f"Deadline {date}: {what}" + (" (urgent)" if urgent else "")
    print("Adding:", line)
    lines = block.value.splitlines() + [line]
    agent_state.memory.update_block_value("human", "\\n".join(lines))
    return f"Noted; the block has {len(lines)} lines."
'''


class ToolForm(forms.Form):
    """A custom tool as a person writes it. `tool` is theirs: stored, or one to be.

    After `is_valid`, `tool` is what it would be, `definition` what was read off its source, and
    `line` where that is wrong (counted from 1; 0 where no line is known).
    """

    source = TextAsTyped(
        max_length=LONGEST_SOURCE,
        widget=forms.Textarea(
            attrs={
                "rows": 20,
                "wrap": "off",
                "spellcheck": "false",
                "autocapitalize": "off",
                "autocomplete": "off",
                "aria-describedby": "source-keys source-error",
            }
        ),
        error_messages={"required": "The source is empty; write a function."},
    )
    seconds = forms.FloatField(required=False)
    megabytes = forms.IntegerField(required=False, label="Megabytes")
    return_char_limit = forms.IntegerField(
        required=False,
        label="Longest return",
        help_text=f"In characters; the rest is cut off. Empty means {LONGEST_RETURN:,}.",
    )
    tags = forms.CharField(
        required=False, max_length=5000, help_text="For your own use, separated by commas."
    )
    default_requires_approval = forms.BooleanField(
        required=False,
        label="Needs approval",
        help_text="You see each call before it is made, whichever agent makes it. An agent’s rules"
        " may say otherwise.",
    )
    keep_schema = forms.BooleanField(
        required=False,
        label="Keep the script’s schema",
        help_text="A script sent the description of the arguments. Without it, they are read from"
        " the source, which then needs types and a docstring.",
    )

    def __init__(self, *args: Any, tool: Tool, **kwargs: Any) -> None:
        self.tool, self.line, self.named = tool, 0, tool.name
        self.definition: Definition | None = None
        kwargs["initial"] = {
            "source": tool.source or EXAMPLE,
            "seconds": tool.seconds,
            "megabytes": tool.megabytes,
            "return_char_limit": tool.return_char_limit
            if tool.return_char_limit < LONGEST_RETURN
            else None,
            "tags": ", ".join(tool.tags),
            "default_requires_approval": tool.default_requires_approval,
            "keep_schema": True,
        }
        super().__init__(*args, **kwargs)
        self.use_required_attribute = False
        if not (tool.given_schema or tool.given_description):
            del self.fields["keep_schema"]
        seconds, megabytes = settings.TOOL_SECONDS, settings.TOOL_MEGABYTES
        for name, most, unit in (("seconds", seconds, "s"), ("megabytes", megabytes, "MB")):
            self.fields[
                name
            ].help_text = f"At most {most:g} {unit}, which is also what empty means."
            self.fields[name].widget.attrs |= {"min": 0, "max": most, "step": "any"}

    def clean_tags(self) -> list[str]:
        tags = (tag.strip() for tag in self.cleaned_data["tags"].split(","))
        return list(dict.fromkeys(tag for tag in tags if tag))

    def clean_return_char_limit(self) -> int:
        cleaned = self.cleaned_data["return_char_limit"]
        return LONGEST_RETURN if cleaned is None else cleaned

    def clean(self) -> None:
        for field, value in self.changes().items():
            setattr(self.tool, field, value)
        if "source" not in self.cleaned_data:
            return
        try:
            read = self.definition = read_tool(self.tool)
            self.tool.name, self.tool.json_schema = read.name, read.schema
        except SourceError as error:
            self.line = error.line
            self.add_error("source", str(error))
        try:
            self.tool.full_clean()
        except ValidationError as error:
            self.refuse(error)

    def changes(self) -> dict[str, Any]:
        """What the tool's fields become."""
        cleaned = {
            name: self.cleaned_data[name] for name in self.fields if name in self.cleaned_data
        }
        if "keep_schema" in self.fields and not cleaned.pop("keep_schema", True):
            cleaned |= {"given_schema": {}, "given_description": ""}
        if "source" in cleaned:
            cleaned["source"] = textwrap.dedent(cleaned["source"])
            cleaned["name"] = self.named if defines(cleaned["source"], self.named) else ""
        return cleaned

    def refuse(self, error: ValidationError) -> None:
        """Say what is wrong with the tool; an error of no field is shown at the source."""
        errors_by_field = (
            error.error_dict if hasattr(error, "error_dict") else {"": error.error_list}
        )
        for name, errors in errors_by_field.items():
            field = name if name in self.fields else "source"
            if name == NON_FIELD_ERRORS:
                errors = [ValidationError(self.name_taken())]
            if field not in self.errors or field != "source":
                self.add_error(field, errors)

    def name_taken(self) -> str:
        return f"You have a tool '{self.tool.name}' already; give this function another name."


def defines(source: str, name: str) -> bool:
    """Whether a source has a function of that name at its top."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(isinstance(n, ast.FunctionDef) and n.name == name for n in body)


# -- rules -------------------------------------------------------------------------------------

PLAIN = ["run_first", "exit_loop", "continue_loop", "required_before_exit", "requires_approval"]
FOLLOWED = {
    "constrain_child_tools": "must be followed by",
    "parent_last_tool": "must come right before",
}


class RulesForm(forms.Form):
    """The rules for one of an agent's tools."""

    exit_loop = forms.BooleanField(
        required=False, label="Ends the turn", help_text="The agent stops after it."
    )
    continue_loop = forms.BooleanField(
        required=False,
        label="Lets the turn go on",
        help_text="The agent gets one more step after it.",
    )
    required_before_exit = forms.BooleanField(
        required=False,
        label="Must be called before the turn ends",
        help_text="Until then the agent cannot answer.",
    )
    run_first = forms.BooleanField(
        required=False,
        label="Must come first",
        help_text="A run begins with this, or with another one that must come first.",
    )
    requires_approval = forms.BooleanField(
        required=False, label="Needs approval", help_text="You see each call before it is made."
    )
    max_count_limit = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=1000,
        label="Most calls in a run",
        error_messages={"min_value": "Give a number of calls, 1 or more, or leave it empty."},
    )
    children = forms.MultipleChoiceField(
        required=False, label="Must be followed by one of", widget=forms.CheckboxSelectMultiple
    )
    unlocks = forms.MultipleChoiceField(
        required=False,
        label="Must come right before any of",
        help_text="They may be called only right after it, and nothing else may.",
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
    phrases = [TYPES[kind] for kind in (*PLAIN, "no_approval") if kind in kinds]
    if limit := most(rules):
        phrases.append(f"at most {'once' if limit == 1 else f'{limit} times'} a run")
    for kind, words in FOLLOWED.items():
        if named := children(rules, kind):
            phrases.append(f"{words} {' or '.join(named)}")
    return phrases + [by_return(rule) for rule in rules if rule["type"] == "conditional"]


def by_return(rule: Rule) -> str:
    """A rule about a tool's return, as a person says it."""
    phrases = [f"{child} after “{each}”" for each, child in rule["child_output_mapping"].items()]
    if default := rule.get("default_child"):
        phrases.append(f"else {default}")
    elif rule.get("require_output_mapping"):
        phrases.append("else the run fails")
    return f"is followed by {', '.join(phrases)}"
