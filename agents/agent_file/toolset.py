"""The tools and tool rules of a file, and which of them can be imported."""

from __future__ import annotations

import io
import keyword
import tokenize
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from agents import tools
from agents.memory.classes import CLASSES
from agents.models import Agent
from agents.models.agent_queryset import UNFINISHED
from agents.models.tool import LONGEST_NAME, LONGEST_RETURN, Tool
from agents.tools import rules
from agents.tools.attaching import lock_tools_of
from agents.tools.memory_methods import method_tools

from .reading import AgentFileError, Entry, Notes, listed

OLDER_RULES = {
    "InitToolRule": "run_first",
    "TerminalToolRule": "exit_loop",
    "ToolRule": "constrain_child_tools",
    "ChildToolRule": "constrain_child_tools",
    "ContinueToolRule": "continue_loop",
    "ConditionalToolRule": "conditional",
    "ParentToolRule": "parent_last_tool",
    "RequiredBeforeExitToolRule": "required_before_exit",
    "MaxCountPerStepToolRule": "max_count_per_step",
    "RequiresApprovalToolRule": "requires_approval",
}
Rule = dict[str, Any]


class Toolset:
    """The tools of a file; `store` makes the Python ones tools of the owner."""

    def __init__(self, file: Entry, own: Entry, owner: User, notes: Notes, *, overwrite: bool):
        self.entries = {tool.get("id", str): tool for tool in file.entries("tools")}
        self.own, self.owner, self.notes, self.overwrite = own, owner, notes, overwrite
        self.called: dict[str, str] = {}  # each imported tool → its name here
        self.made: dict[str, Tool] = {}  # the owner's tools that are new or get a new source
        self.asks: set[str] = set()  # tools that need approval in the file, by their names here
        self.missing: dict[str, list[str]] = {}  # why → the tools that were not imported
        self.placeholders: list[str] = []  # names that are taken, of tools that do not work here
        self.methods = {name for each in CLASSES.values() for name in method_tools(each)}
        for tool in self.entries.values():
            self.add(tool)
        if self.placeholders:
            words = gettext(
                "Tools that are not set up on this server, so that a call only says so: %(names)s."
            )
            notes.add(words % {"names": listed(self.placeholders)})
        for why, names in self.missing.items():
            words = gettext("Tools that were not imported, because %(reason)s: %(names)s.")
            notes.add(words % {"reason": why, "names": listed(names)})

    def add(self, tool: Entry) -> None:
        """Find the tool among those here, or read it."""
        name = tool.get("name", str)
        source = tool.text("source_code")
        if self.is_built_in(tool) or not source:
            if name in tools.names():
                self.called[name] = name
                if tools.get(name).missing():
                    self.placeholders.append(name)
            elif name not in self.methods:
                self.leave(name, gettext("they are part of the server they come from"))
        elif tool.text("source_type") not in ("", "python", "json"):
            words = gettext("they are written in %(language)s, not in Python")
            self.leave(name, words % {"language": tool.text("source_type")[:40]})
        elif packages := self.packages(tool):
            words = gettext("the sandbox has no packages (%(names)s)")
            self.leave(name, words % {"names": packages})
        else:
            self.read(tool, name, source)
        if tool.get("default_requires_approval", bool, False) and name in self.called:
            self.asks.add(self.called[name])

    def is_built_in(self, tool: Entry) -> bool:
        """Whether it came with a server. Such a tool is never imported, even with its source."""
        kind = tool.text("tool_type")
        return kind.startswith(("letta_", "external_"))

    def leave(self, name: str, why: str) -> None:
        self.missing.setdefault(why, []).append(name)

    def packages(self, tool: Entry) -> str:
        """The names of the packages a tool needs."""
        needed = [*tool.entries("pip_requirements"), *tool.entries("npm_requirements")]
        return ", ".join(each.text("name")[:100] for each in needed)

    def read(self, tool: Entry, name: str, source: str) -> None:
        """Read a custom tool, under another name if its own is used here."""
        most = tool.get("return_char_limit", int, LONGEST_RETURN)
        more = self.own.entry(tool.get("id", str))
        settings: dict[str, Any] = {
            "tags": tool.texts("tags")[:50],
            "return_char_limit": min(max(most, 1), LONGEST_RETURN),
            # a file can require approval for a tool that is already here, but not drop it
            "default_requires_approval": tool.get("default_requires_approval", bool, False) or None,
            "seconds": more.get("seconds", float, None),
            "megabytes": more.whole("megabytes", 1, 2**31 - 1),
            "metadata": more.get("metadata", dict, {}) or tool.get("metadata_", dict, {}),
            "given_description": more.text("given_description"),
            "given_schema": more.get("given_schema", dict, {}),
        }
        stored = Tool.objects.filter(owner=self.owner, name=name).first()
        if stored and stored.source.strip() == source.strip():
            self.called[name] = name
            return
        free = name
        left_alone = stored and (not self.overwrite or name in self.used())
        if name in tools.reserved() or name in self.methods or left_alone:
            free = self.free_name(name)
            source = renamed(source, name, free)
        row = stored if stored and free == name else Tool(owner=self.owner, name=free)
        try:
            self.assign(row, source, settings, tool)
        except ValidationError as error:
            why = " ".join(error.messages).replace(free, name)
            words = gettext("The tool '%(name)s' was not imported: %(reason)s")
            self.notes.add(words % {"name": name[:100], "reason": why})
            return
        self.called[name] = row.name
        self.made[row.name] = row
        if row is stored:
            words = gettext("The existing tool '%(name)s' now has the source from the file.")
            self.notes.add(words % {"name": name})
        if free != name:
            why = gettext("another tool has that name")
            if left_alone and self.overwrite:
                why = gettext("other agents use a tool of that name, which was left as it is")
            words = gettext(
                "The tool '%(before)s' is called '%(name)s' here, because %(reason)s; earlier"
                " messages still use the old name."
            )
            self.notes.add(words % {"before": name, "name": free, "reason": why})

    def assign(self, row: Tool, source: str, settings: dict[str, Any], tool: Entry) -> None:
        """Give a tool its source; where that says too little of the arguments, with the schema that
        came along. ValidationError, as of the source alone, where that does not help."""
        try:
            row.assign(source, **settings)
        except ValidationError as error:
            schema = tool.entry("json_schema")
            parameters = schema.get("parameters", dict, {})
            if settings["given_schema"] or not parameters:
                raise
            given = {
                "given_schema": parameters,
                "given_description": schema.text("description") or tool.text("description"),
            }
            try:
                row.assign(source, **settings | given)
            except ValidationError:
                raise error from None
            words = gettext(
                "The source of the tool '%(name)s' does not say enough of its arguments; the schema"
                " in the file is used."
            )
            self.notes.add(words % {"name": row.name})

    def used(self) -> set[str]:
        """The tools that the owner's agents have, also those agents that can be brought back."""
        agents = Agent.objects.filter(owner=self.owner).exclude(deleted_at=UNFINISHED)
        return {name for names in agents.values_list("tools", flat=True) for name in names}

    def free_name(self, name: str) -> str:
        taken = {*tools.names(), *self.methods, *self.called.values()}
        taken |= {each.text("name") for each in self.entries.values()}
        taken |= set(Tool.objects.filter(owner=self.owner).values_list("name", flat=True))
        numbered = (f"{name[: LONGEST_NAME - 6]}_{number}" for number in range(2, len(taken) + 3))
        return next(each for each in numbered if each not in taken)

    def store(self) -> None:
        """Store what was read. AgentFileError if one of the names has been used meanwhile."""
        if not self.made:
            return
        lock_tools_of(self.owner)
        used = self.used()
        there = Tool.objects.filter(owner=self.owner, name__in=self.made)
        for stored in there:
            if stored.pk != self.made[stored.name].pk:
                words = gettext(
                    "A tool '%(name)s' was created at the same time; import the file again."
                )
                raise AgentFileError(words % {"name": stored.name})
            if stored.name in used:
                words = gettext(
                    "An agent was given the tool '%(name)s' at the same time; import the file"
                    " again."
                )
                raise AgentFileError(words % {"name": stored.name})
        for row in self.made.values():
            row.save()

    # -- an agent's --------------------------------------------------------------------------------

    def of(self, agent: Entry, own: Entry, memory_class: str) -> list[str]:
        """The names of an agent's tools."""
        methods = set(method_tools(CLASSES[memory_class]))
        named: list[str] = []
        for key in agent.texts("tool_ids"):
            if key not in self.entries:
                words = gettext("The tool '%(key)s' is not in the file.")
                self.notes.add(words % {"key": key[:100]})
            else:
                named.append(self.entries[key].get("name", str))
        listed_here = own.texts("tools")
        known: list[str] = []
        for name in listed_here or [*named, *agent.texts("tools")]:
            if name in self.called:
                known.append(self.called[name])
            elif name in tools.names() or name in methods:
                known.append(name)
            elif name not in named:
                words = gettext("There is no tool '%(name)s' here; the agent does not have it.")
                self.notes.add(words % {"name": name[:100]})
        return list(dict.fromkeys(known))

    def rules(self, agent: Entry, own: Entry, held: list[str]) -> list[Rule]:
        """An agent's tool rules, without those that do not exist here."""
        kept: list[Rule] = []
        unknown: dict[str, list[str]] = {}
        for each in agent.entries("tool_rules"):
            kind = each.get("type", str)
            kind = OLDER_RULES.get(kind, kind)
            name = each.get("tool_name", str)
            rule = self.rule(each, kind, name)
            if kind not in rules.TYPES:
                unknown.setdefault(kind, []).append(name)
            elif why := rules.problem([rule], held):
                words = gettext("A rule '%(kind)s' for '%(tool)s' was not imported: %(reason)s")
                self.notes.add(words % {"kind": kind, "tool": name[:100], "reason": why})
            else:
                kept.append(rule)
        for kind, names in unknown.items():
            words = gettext(
                "Rules of the kind '%(kind)s' do not exist here and were not imported; they were"
                " for %(tools)s."
            )
            self.notes.add(words % {"kind": kind[:100], "tools": listed(names)})
        waived = {self.called.get(name, name) for name in own.texts("no_approval")}
        kept += [{"tool_name": name, "type": "no_approval"} for name in held if name in waived]
        return kept + [
            {"tool_name": name, "type": "requires_approval"} for name in self.gated(held, kept)
        ]

    def gated(self, held: list[str], kept: list[Rule]) -> list[str]:
        """Tools that need approval in the file, but here neither by a rule nor by default."""
        rows = [*Tool.objects.filter(owner=self.owner, name__in=self.asks), *self.made.values()]
        asking = {row.name for row in rows if row.default_requires_approval}
        ruled = {rule["tool_name"] for rule in kept if rule["type"].endswith("_approval")}
        return [name for name in held if name in self.asks - asking - ruled]

    def rule(self, each: Entry, kind: str, name: str) -> Rule:
        """A rule, with the names that tools have here."""
        rule: Rule = {"tool_name": name, "type": kind}
        if kind in rules.WITH_CHILDREN:
            rule["children"] = each.texts("children")
        if kind == "max_count_per_step":
            rule["max_count_limit"] = each.get("max_count_limit", int)
        if kind == "conditional":
            rule["child_output_mapping"] = each.get("child_output_mapping", dict)
            if each.get("require_output_mapping", bool, False):
                rule["require_output_mapping"] = True
            if default := each.text("default_child"):
                rule["default_child"] = default
        if each.has("child_arg_nodes") or each.has("args"):
            words = gettext("The arguments in a rule '%(kind)s' for '%(tool)s' were not imported.")
            self.notes.add(words % {"kind": kind, "tool": name[:100]})
        return rules.mapped([rule], self.called)[0]


def renamed(source: str, old: str, new: str) -> str:
    """A source with a function renamed, also where it calls itself."""
    lines = source.splitlines(keepends=True)
    before = ""
    places: list[tuple[int, int]] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.NAME and token.string == old and before != ".":
                places.append(token.start)
            before = token.string
    except (tokenize.TokenError, SyntaxError):
        return source  # not Python; `Tool.put` reports it
    if keyword.iskeyword(old):
        return source
    for row, column in reversed(places):
        line = lines[row - 1]
        lines[row - 1] = line[:column] + new + line[column + len(old) :]
    return "".join(lines)
