"""Forms: what a person fills in, checked in words."""

from __future__ import annotations

import json
from itertools import zip_longest
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agents import tools
from agents.llm import facts, resolve
from agents.llm.choices import check_choice
from agents.llm.endpoints import ModelError
from agents.memory.classes import CLASSES, TEMPLATES, Memory
from agents.memory.gallery import ASSISTANT, free_name, templates
from agents.memory.prompts import SYSTEM_PROMPT
from agents.models import Agent, Block, Tool
from agents.models.model_settings import MODEL_SETTINGS
from agents.tools.memory_methods import method_tools
from agents.tools.rules import TYPES, WITH_CHILDREN, problem

from .model_settings import ModelInput, ModelSettingsField


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


def chosen_model(form: forms.ModelForm) -> str:
    """The model's handle, which may be chosen, or is what it was."""
    handle = str(form.cleaned_data["model"])
    if "model" in form.changed_data:
        check_choice(handle, form.instance.owner_id)
    return handle


class TemplateChoices(forms.RadioSelect):
    """The gallery: one of its templates, each with its sentence."""

    template_name = "agents/_template_choices.html"

    def create_option(self, name: str, value: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        option: dict[str, Any] = super().create_option(name, value, *args, **kwargs)
        return option | {"sentence": templates()[str(value)].in_words().sentence}


class NewAgentForm(forms.ModelForm):
    """A new agent, without its blocks."""

    template = forms.ChoiceField(
        label=_("Begin as"),
        choices=lambda: [(key, each.in_words().title) for key, each in templates().items()],
        widget=TemplateChoices,
    )

    class Meta:
        model = Agent
        fields = ["name", "model", "system_prompt"]
        field_classes = {"system_prompt": TextAsTyped}
        widgets = {"model": ModelInput, "system_prompt": forms.Textarea(attrs={"rows": 6})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        taken = set(self.instance.owner.agents.values_list("name", flat=True))
        self.initial.update(system_prompt=SYSTEM_PROMPT, name=free_name(taken))
        if self.initial.get("template") not in templates():
            self.initial["template"] = ASSISTANT

    def clean_model(self) -> str:
        return chosen_model(self)

    def create(self, owner: User, blocks: list[Block]) -> Agent:
        """Make the agent, with these blocks."""
        values = dict(self.cleaned_data)
        template = templates()[values.pop("template")]
        memory = CLASSES[template.memory_class].holding(blocks)
        return Agent.create(owner, memory=memory, **values)

    @property
    def advanced_is_wrong(self) -> bool:
        """Whether something is wrong that stands under Advanced."""
        return "model" in self.errors or "system_prompt" in self.errors


BUILT_IN = [
    ("", _("as its template has it")),
    (TEMPLATES["tags"], _("tags, one for each block")),
    (TEMPLATES["json"], _("[MEMORY] and a JSON object")),
]


class ToolChoices(forms.CheckboxSelectMultiple):
    """Tools, family by family, with what each does."""

    template_name = "agents/_tool_choices.html"

    def __init__(self) -> None:
        super().__init__()
        self.described: dict[str, str] = {}

    def create_option(self, name: str, value: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        option: dict[str, Any] = super().create_option(name, value, *args, **kwargs)
        return option | {"description": self.described.get(str(value), "")}


class RulesWidget(forms.Widget):
    """Tool rules, one row each; rows may be added and left empty."""

    template_name = "agents/_tool_rules.html"
    parts = ("tool", "type", "children", "most", "more")
    tool_names: list[str] = []

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        rows = [row if "tool" in row else row_of(row) for row in value or []]
        types = {kind: gettext(words) for kind, words in TYPES.items() if kind != "conditional"}
        context["widget"] |= {"rows": [*rows, {}], "types": types, "tools": self.tool_names}
        context["widget"]["by_return"] = gettext(
            TYPES["conditional"]
        )  # kept, but not made in a form
        return context

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        """A list of rows, as typed."""
        columns = [data.getlist(f"{name}-{part}") for part in self.parts]
        rows = zip_longest(*columns, fillvalue="")
        return [dict(zip(self.parts, row, strict=True)) for row in rows]

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        return False

    def id_for_label(self, id_: str) -> str:
        return ""


SHOWN = ("tool_name", "type", "children", "max_count_limit")
BY_RETURN = ("child_output_mapping", "default_child", "require_output_mapping")


def row_of(rule: Any) -> dict[str, str]:
    """A rule as a row of the form; `more` is what it says that no field shows, as JSON."""
    more = {name: value for name, value in rule.items() if name not in SHOWN}
    return {
        "tool": str(rule.get("tool_name", "")),
        "type": str(rule.get("type", "")),
        "children": ", ".join(map(str, rule.get("children") or [])),
        "most": str(rule.get("max_count_limit") or ""),
        "more": json.dumps(more, sort_keys=True) if more else "",
    }


class RulesField(forms.Field):
    """Tool rules as `agents/tools/rules.py` has them."""

    widget = RulesWidget

    def to_python(self, value: Any) -> list[dict[str, Any]]:
        return [rule_of(row) for row in value if row["tool"]]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.to_python(data) != [rule_of(row_of(rule)) for rule in initial or []])


def rule_of(row: dict[str, str]) -> dict[str, Any]:
    """The rule that a row says; `wrong` says what it lacks."""
    rule: dict[str, Any] = {"tool_name": row["tool"], "type": row["type"]}
    if row["type"] in WITH_CHILDREN:
        rule["children"] = [name.strip() for name in row["children"].split(",") if name.strip()]
    if row["type"] == "max_count_per_step":
        most = row["most"].strip()
        rule["max_count_limit"] = int(most) if most.isdecimal() and len(most) < 10 else 0
    return more_of(row) | rule


def more_of(row: dict[str, str]) -> dict[str, Any]:
    """What else a rule said before, as far as it is still of the kind that says such."""
    try:
        more = json.loads(row.get("more") or "{}")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(more, dict):
        return {}
    if row["type"] == "conditional":
        return more
    return {name: value for name, value in more.items() if name not in BY_RETURN}


class AgentForm(forms.ModelForm):
    """An agent's settings."""

    model_settings = ModelSettingsField(
        required=False,
        label=_("How the model is asked"),
        help_text=_("What is left empty is as the endpoint has it."),
    )

    tools = forms.MultipleChoiceField(
        label=_("Tools"),
        widget=ToolChoices,
        required=False,
        help_text=_("With send_message the agent answers only through that tool, MemGPT style."),
    )
    tool_rules = RulesField(
        label=_("Tool rules"),
        required=False,
        help_text=_("When a tool may be called and what follows. A row without a tool is ignored."),
    )
    prompt_template = TemplateField(
        label=_("Format of core memory"),
        required=False,
        choices=BUILT_IN,
    )

    class Meta:
        model = Agent
        fields = Agent.IN_FORMS
        field_classes = {"system_prompt": TextAsTyped}
        widgets = {"model": ModelInput, "system_prompt": forms.Textarea(attrs={"rows": 8})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field, own = self.fields["prompt_template"], self.instance.prompt_template
        assert isinstance(field, forms.ChoiceField)
        if own not in ("", *TEMPLATES.values()):
            field.choices = [*BUILT_IN, (own, _("the agent's own template"))]
        families = tool_families(self.instance)
        chosen, rules = self.fields["tools"], self.fields["tool_rules"]
        assert isinstance(chosen, forms.MultipleChoiceField)
        chosen.choices = [(title, [(n, n) for n in family]) for title, family in families.items()]
        described = {n: text for family in families.values() for n, text in family.items()}
        chosen.widget.described = described
        rules.widget.tool_names = list(described)
        self.fields["model"].widget.agent = self.instance
        asked = self.fields["model_settings"].widget
        asked.refused = refused_by_model(self.instance)

    def changes(self) -> dict[str, Any]:
        """The settings that were changed; the others stay what they are by now."""
        return {name: self.cleaned_data[name] for name in self.changed_data}

    def clean_model(self) -> str:
        return chosen_model(self)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if reason := problem(cleaned.get("tool_rules", []), cleaned.get("tools", [])):
            self.add_error("tool_rules", reason)
        return cleaned


def refused_by_model(agent: Agent) -> list[str]:
    """The model settings that the agent's model is known not to take."""
    try:
        endpoint, model = resolve(agent.model, agent.owner_id, ask=False)
    except ModelError:
        return []
    return facts.refused(endpoint, model, MODEL_SETTINGS)


def tool_families(agent: Agent) -> dict[str, dict[str, str]]:
    """The tools an agent may have: family → name → what it does."""
    methods = method_tools(CLASSES.get(agent.memory_class, Memory))
    fixed = [*tools.reserved(), *methods]
    own = Tool.objects.filter(owner=agent.owner_id).exclude(name__in=fixed)
    own_names = {*own.values_list("name", flat=True)}
    built_in = [tools.get(name) for name in tools.names() if name not in own_names]
    of_class = gettext("From its memory class, %(memory_class)s")
    families = {
        gettext("Built in"): {t.name: t.description for t in built_in if not t.missing()},
        of_class % {"memory_class": agent.memory_class}: {
            name: method.description for name, method in methods.items()
        },
        gettext("Your own"): dict(own.values_list("name", "description")),
        gettext("Not set up on this server"): {
            each.name: each.description
            for each in built_in
            if each.missing() and each.name in agent.tools
        },
    }
    return {title: family for title, family in families.items() if family}
