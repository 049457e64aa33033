"""Forms: what a person fills in, checked in words."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from agents import tools
from agents.memory import CLASSES, TEMPLATES
from agents.models import Agent, Block

SYSTEM_PROMPT = """\
You are a helpful assistant with a memory of your own. Your core memory below is always in view: \
it holds what matters about you and about the person you talk with. When you learn something \
worth keeping, or something you noted turns out to be wrong, change your core memory with the \
tools you have, and do it before you answer. Keep it short, true and free of repetition. Do not \
talk about the memory tools unless you are asked."""


class TextAsTyped(forms.CharField):
    """Text that keeps its white space, and whose lines end as they do in memory (not in CRLF)."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{**kwargs, "strip": False})

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value)).replace("\r\n", "\n")


class TemplateField(forms.ChoiceField):
    """A choice of templates; a browser sends their lines back with CRLF."""

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value)).replace("\r\n", "\n")


class NewAgentForm(forms.ModelForm):
    """A new agent, without its blocks."""

    memory_class = forms.ChoiceField(
        label="Memory class",
        choices=[(name, f"{name}: {c.description}") for name, c in CLASSES.items()],
    )

    class Meta:
        model = Agent
        fields = ["name", "memory_class", "model", "system_prompt"]
        field_classes = {"system_prompt": TextAsTyped}
        widgets = {"system_prompt": forms.Textarea(attrs={"rows": 6})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("initial", {"system_prompt": SYSTEM_PROMPT})
        super().__init__(*args, **kwargs)

    def create(self, owner: User, blocks: list[Block]) -> Agent:
        """Make the agent, with these blocks."""
        values = dict(self.cleaned_data)
        memory = CLASSES[values.pop("memory_class")]()
        memory.blocks = {block.label: block for block in blocks}
        return Agent.create(owner, memory=memory, **values)


class BlockForm(forms.ModelForm):
    """A new block."""

    class Meta:
        model = Block
        fields = ["label", "description", "value", "limit", "read_only"]
        field_classes = {"value": TextAsTyped}
        widgets = {"value": forms.Textarea(attrs={"rows": 3})}


class BlockSettingsForm(forms.ModelForm):
    """A block without its value, which has an editor of its own."""

    class Meta:
        model = Block
        fields = ["label", "description", "limit", "read_only"]


class BaseNewBlocks(forms.BaseFormSet):
    """The blocks of a new agent; a form without a label is left out."""

    def clean(self) -> None:
        labels = [form.cleaned_data.get("label") for form in self.forms if form.is_valid()]
        for label in {label for label in labels if label and labels.count(label) > 1}:
            raise ValidationError(f"Two blocks are labelled '{label}'; each needs its own label.")

    def filled(self) -> list[Block]:
        """The blocks, not yet saved."""
        return [form.instance for form in self.forms if form.cleaned_data.get("label")]


def new_block_form(number: int) -> BlockForm:
    """An empty form for one more block of a new agent."""
    return BlockForm(prefix=f"blocks-{number}", use_required_attribute=False, empty_permitted=True)


NewBlocks = forms.formset_factory(BlockForm, formset=BaseNewBlocks, extra=0, max_num=50)


BUILT_IN = [
    ("", "the memory class has it"),
    (TEMPLATES["tags"], "tags, one for each block"),
    (TEMPLATES["json"], "[MEMORY] and a JSON object"),
]


class AgentForm(forms.ModelForm):
    """An agent's settings."""

    tools = forms.MultipleChoiceField(
        choices=[(name, name) for name in tools.names()],
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text="With send_message the agent talks by that tool only, MemGPT style.",
    )
    prompt_template = TemplateField(
        label="Core memory is compiled as",
        required=False,
        choices=BUILT_IN,
    )

    class Meta:
        model = Agent
        fields = [
            "name",
            "model",
            "system_prompt",
            "tools",
            "prompt_template",
            "max_steps",
            "context_window",
        ]
        field_classes = {"system_prompt": TextAsTyped}
        widgets = {"system_prompt": forms.Textarea(attrs={"rows": 8})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field, own = self.fields["prompt_template"], self.instance.prompt_template
        assert isinstance(field, forms.ChoiceField)
        if own not in ("", *TEMPLATES.values()):
            field.choices = [*BUILT_IN, (own, "a template of its own")]
