"""How the model is asked, in the form of an agent's settings."""

from __future__ import annotations

import json
from typing import Any

from django import forms

from agents.models.model_settings import EFFORTS, MODEL_SETTINGS, VERBOSITIES, Number


class ModelSettingsWidget(forms.Widget):
    """How the model is asked, one input for each setting."""

    template_name = "agents/_model_settings.html"

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        given = value if isinstance(value, dict) else {}
        context["widget"]["settings"] = [
            {
                "name": setting,
                "label": LABELS[setting],
                "value": shown(given.get(setting, "")),
                "number": kind if isinstance(kind, Number) else None,
                "choices": [shown(each) for each in kind] if isinstance(kind, tuple) else [],
                "text": setting == "response_format",
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
    "temperature": "Temperature",
    "top_p": "Top P",
    "frequency_penalty": "Frequency penalty",
    "max_output_tokens": "Most tokens of an answer",
    "reasoning_effort": "Reasoning effort",
    "verbosity": "Verbosity",
    "parallel_tool_calls": "Several tool calls at once",
    "response_format": "Response format, as JSON",
}


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
            raise forms.ValidationError(f"{LABELS[name]}: '{text[:50]}' cannot be read.") from None

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return bool(self.to_python(data) != (initial or {}))
        except forms.ValidationError:
            return True
