"""Forms of blocks: made, set up, and the first ones of a new agent."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from agents.models import Block
from agents.models.message import NO_TEXT

from .agent import TextAsTyped

SETTINGS = [name for name in Block.IN_FORMS if name not in ("label", "description")]


class SchemaField(forms.JSONField):
    """A JSON Schema, shown with one thing a line."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs["widget"] = forms.Textarea(attrs={"rows": 3, "spellcheck": "false"})
        super().__init__(**kwargs)

    def prepare_value(self, value: Any) -> Any:
        if value is None or isinstance(value, str):
            return value
        return json.dumps(value, indent=2, ensure_ascii=False)

    def to_python(self, value: Any) -> Any:
        """What was typed, if a database can hold it: no NaN, no NUL."""
        if value in self.empty_values:
            return None
        try:
            parsed = json.loads(value, parse_constant=_no_number)
            json.dumps(parsed, allow_nan=False)
        except (ValueError, RecursionError) as error:
            words = gettext("This is not JSON: %(error)s.") % {"error": error}
            raise ValidationError(words) from None
        if any(NO_TEXT.search(text) for text in texts_in(parsed)):
            words = gettext("This holds a character that cannot be stored; leave it out.")
            raise ValidationError(words)
        return parsed

    def bound_data(self, data: Any, initial: Any) -> Any:
        return data


def _no_number(name: str) -> None:
    raise ValueError(gettext("%(name)s is not a number in JSON") % {"name": name})


def texts_in(parsed: Any) -> Iterable[str]:
    """All strings in a JSON value, names of objects too."""
    if isinstance(parsed, str):
        yield parsed
    elif isinstance(parsed, dict):
        for name, value in parsed.items():
            yield name
            yield from texts_in(value)
    elif isinstance(parsed, list):
        for value in parsed:
            yield from texts_in(value)


class KindForm(forms.ModelForm):
    """A form of blocks; what says nothing of the kind leaves it as it is."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["kind"].required = False

    def clean_kind(self) -> str:
        return str(self.cleaned_data["kind"] or self.instance.kind)


class BlockForm(KindForm):
    """A new block."""

    class Meta:
        model = Block
        fields = ["label", "description", "value", *SETTINGS]
        field_classes = {"value": TextAsTyped, "schema": SchemaField}
        widgets = {"value": forms.Textarea(attrs={"rows": 3})}


class BlockSettingsForm(KindForm):
    """A block without its value, which has an editor of its own."""

    class Meta:
        model = Block
        fields = ["label", "description", *SETTINGS]
        field_classes = {"schema": SchemaField}

    def add_error(self, field: str | None, error: Any) -> None:
        """What is wrong with the value stands at the setting that does not suit it."""
        if isinstance(error, ValidationError) and "value" in getattr(error, "error_dict", {}):
            reasons = error.error_dict.pop("value")
            super().add_error(self._unsuited(), reasons)
        super().add_error(field, error)

    def _unsuited(self) -> str:
        """The setting that the block's value does not suit."""
        block: Block = self.instance
        if len(block.value) > block.limit:
            return "limit"
        return "schema" if "kind" not in self.changed_data else "kind"


class BaseNewBlocks(forms.BaseFormSet):
    """The blocks of a new agent; a form without a label is left out."""

    def initial_form_count(self) -> int:
        """All are further ones: none has to be filled in."""
        return 0

    def total_form_count(self) -> int:
        return super().total_form_count() if self.is_bound else len(self.initial or [])

    def clean(self) -> None:
        labels = [form.cleaned_data.get("label") for form in self.forms if form.is_valid()]
        for label in {label for label in labels if label and labels.count(label) > 1}:
            words = gettext("Two blocks have the label '%(label)s'; each needs its own.")
            raise ValidationError(words % {"label": label})

    def filled(self) -> list[Block]:
        """The blocks, not yet saved."""
        return [form.instance for form in self.forms if form.cleaned_data.get("label")]


def new_block_form(number: int) -> BlockForm:
    """An empty form for one more block of a new agent."""
    return BlockForm(prefix=f"blocks-{number}", use_required_attribute=False, empty_permitted=True)


NewBlocks = forms.formset_factory(BlockForm, formset=BaseNewBlocks, extra=0, max_num=50)
