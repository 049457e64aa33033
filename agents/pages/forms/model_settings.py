"""How the model is asked, in the form of an agent's settings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from agents.models.model_settings import EFFORTS, MODEL_SETTINGS, VERBOSITIES, Number


class ModelInput(forms.TextInput):
    """A model's handle, with those that the endpoints list to choose from, and a button to try it.

    `agent` is whose owner's endpoints count; None: whoever makes a new agent.
    """

    template_name = "agents/models/_input.html"
    agent: Agent | None = None

    def __init__(self) -> None:
        super().__init__({"list": "models", "autocomplete": "off", "spellcheck": "false"})

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        return super().get_context(name, value, attrs) | {"agent": self.agent}


class ModelSettingsWidget(forms.Widget):
    """How the model is asked, one input for each setting; `refused` are those it does not take."""

    template_name = "agents/_model_settings.html"
    refused: Sequence[str] = ()

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        given = value if isinstance(value, dict) else {}
        context["widget"]["settings"] = [
            {
                "name": setting,
                "label": LABELS[setting],
                "value": shown(given.get(setting, "")),
                "number": kind if isinstance(kind, Number) else None,
                "choices": [(shown(each), in_words(each)) for each in kind]
                if isinstance(kind, tuple)
                else [],
                "text": setting == "response_format",
                "refused": setting in self.refused,
            }
            for setting, kind in MODEL_SETTINGS.items()
        ]
        return context

    def value_from_datadict(self, data: Any, files: Any, name: str) -> dict[str, str]:
        typed = {setting: data.get(f"{name}-{setting}", "") for setting in MODEL_SETTINGS}
        return {setting: text.strip() for setting, text in typed.items() if text.strip()}

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        return False

    def id_for_label(self, id_: str) -> str:
        return ""


LABELS = {
    "temperature": _("Temperature"),
    "top_p": _("Top P"),
    "frequency_penalty": _("Frequency penalty"),
    "max_output_tokens": _("Longest answer, in tokens"),
    "reasoning_effort": _("Reasoning effort"),
    "verbosity": _("Verbosity"),
    "parallel_tool_calls": _("Several tool calls at once"),
    "response_format": _("Response format, as JSON"),
}


def in_words(value: Any) -> str:
    """A choice as a person reads it; the levels are called as the endpoints call them."""
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    return shown(value)


def shown(value: Any) -> str:
    """A setting as it stands in its input."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else json.dumps(value)


class ModelSettingsField(forms.Field):
    """Model settings as `agents/models/model_settings.py` has them."""

    widget = ModelSettingsWidget

    def to_python(self, value: Any) -> dict[str, Any]:
        return {name: self._read(name, text) for name, text in (value or {}).items()}

    def _read(self, name: str, text: Any) -> Any:
        if not isinstance(text, str) or MODEL_SETTINGS[name] in (EFFORTS, VERBOSITIES):
            return text
        if text in ("yes", "no"):
            return text == "yes"
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            words = gettext("%(setting)s: '%(value)s' cannot be read.")
            named = {"setting": LABELS[name], "value": text[:50]}
            raise forms.ValidationError(words % named) from None

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return bool(self.to_python(data) != (initial or {}))
        except forms.ValidationError:
            return True
