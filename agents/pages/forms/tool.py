"""The form of a custom tool: its source and its limits."""

from __future__ import annotations

import ast
import textwrap
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.utils.functional import lazy
from django.utils.text import format_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agents.models.tool import LONGEST_RETURN, LONGEST_SOURCE, Tool
from agents.text.numbers import whole
from agents.tools.custom import Definition, SourceError, read_tool

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
        label=_("Source"),
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
        error_messages={"required": _("The source is empty; write a function.")},
    )
    seconds = forms.FloatField(required=False, label=_("Seconds"))
    megabytes = forms.IntegerField(required=False, label=_("Megabytes"))
    return_char_limit = forms.IntegerField(
        required=False,
        label=_("Longest return"),
        help_text=format_lazy(
            _("In characters; the rest is cut off. Empty means {most}."),
            most=lazy(whole, str)(LONGEST_RETURN),
        ),
    )
    tags = forms.CharField(
        label=_("Tags"),
        required=False,
        max_length=5000,
        help_text=_("For your own use, separated by commas."),
    )
    default_requires_approval = forms.BooleanField(
        required=False,
        label=_("Needs approval"),
        help_text=_(
            "You see each call before it is made, whichever agent makes it. An agent’s rules"
            " may say otherwise."
        ),
    )
    keep_schema = forms.BooleanField(
        required=False,
        label=_("Keep the script’s schema"),
        help_text=_(
            "A script sent the description of the arguments. Without it, they are read from"
            " the source, which then needs types and a docstring."
        ),
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
            words = gettext("At most %(most)s, which is also what empty means.")
            self.fields[name].help_text = words % {"most": f"{most:g} {unit}"}
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
        words = gettext("You have a tool '%(name)s' already; give this function another name.")
        return words % {"name": self.tool.name}


def defines(source: str, name: str) -> bool:
    """Whether a source has a function of that name at its top."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(isinstance(n, ast.FunctionDef) and n.name == name for n in body)
