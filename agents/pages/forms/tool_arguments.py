"""A form of a tool's arguments, made from its schema: with it a person tries the tool."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.html import escape
from django.utils.translation import gettext


class ArgumentsForm(forms.Form):
    """A tool's arguments, a field each: text as it is, anything else as JSON.

    What is left empty is left out where the function has a default. `form_data` is what was typed,
    by the fields' names in the page: `argument-task`.
    """

    def __init__(self, schema: dict[str, Any], form_data: Mapping[str, str]) -> None:
        parameters = schema["parameters"]
        self.parameters: dict[str, dict[str, Any]] = parameters.get("properties", {})
        self.needed: list[str] = parameters.get("required", [])
        typed = {name: form_data.get(f"argument-{name}", "") for name in self.parameters}
        super().__init__(prefix="argument", use_required_attribute=False, initial=typed)
        for name, about in self.parameters.items():
            self.fields[name] = argument_field(name, about, needed=name in self.needed)

    def arguments(self) -> dict[str, Any]:
        """The arguments by name, to be checked by the tool itself. ValidationError: no JSON."""
        arguments, errors = {}, []
        for name, about in self.parameters.items():
            text = self.initial[name]
            if takes_text(about):
                if text or name in self.needed:
                    arguments[name] = text.replace("\r\n", "\n") or empty(about)
            elif text.strip():
                try:
                    arguments[name] = json.loads(text)
                except (ValueError, RecursionError) as error:
                    words = gettext("The argument '%(name)s' is not JSON (%(error)s).")
                    errors.append(words % {"name": name, "error": error})
        if errors:
            raise ValidationError(errors)
        return arguments


def argument_field(name: str, about: dict[str, Any], *, needed: bool) -> forms.Field:
    """The field for one argument."""
    kind = the_type(about)
    default = "" if needed else json.dumps(about.get("default"), ensure_ascii=False)
    field = forms.CharField(
        label=name,
        required=needed,
        help_text=escape(about.get("description", "")),
        widget=forms.Textarea(attrs={"rows": 1, "placeholder": default, "spellcheck": "false"}),
    )
    if values := choosable(kind):
        choices = [(json.dumps(each), str(each)) for each in values]
        if not needed:
            left_out = gettext("left out, so %(default)s") % {"default": default}
            choices.insert(0, ("", left_out))
        field.widget = forms.Select(choices=choices)
    elif kind.get("type") in ("integer", "number"):
        field.widget = forms.NumberInput(attrs={"step": "any", "placeholder": default})
    elif not takes_text(about):
        shape = {"array": "[…]", "object": "{…}"}.get(str(kind.get("type")), "")
        field.widget.attrs["placeholder"] = f"JSON {shape}".strip() if needed else default
    return field


def choosable(kind: dict[str, Any]) -> list[Any]:
    """The values an argument may have, if they are few."""
    if "const" in kind:
        return [kind["const"]]
    return kind.get("enum") or ([True, False] if kind.get("type") == "boolean" else [])


def the_type(about: dict[str, Any]) -> dict[str, Any]:
    """The schema of an argument, of an optional one without its null."""
    kinds = [kind for kind in about.get("anyOf", []) if kind.get("type") != "null"]
    return kinds[0] if len(kinds) == 1 else about


def takes_text(about: dict[str, Any]) -> bool:
    kind = the_type(about)
    return kind.get("type") == "string" and not choosable(kind)


def empty(about: dict[str, Any]) -> str | None:
    """What an empty text field says: null where that may be, else an empty text."""
    return None if {"type": "null"} in about.get("anyOf", []) else ""
