"""Models: those that the endpoints list, one of them chosen for an agent, and tried out."""

from __future__ import annotations

import time
from typing import Any
from uuid import UUID

from django import forms
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from agents.llm import resolve
from agents.llm.available import default_endpoint, named_endpoints
from agents.llm.choices import check_choice
from agents.llm.endpoints import Endpoint, ModelError
from agents.llm.handles import default_model, listed_models
from agents.llm.trial import Finding, Trial
from agents.models import Agent
from agents.text.stored import translated

from .forms.model_settings import ModelSettingsField, ModelSettingsWidget
from .request import Request, find_agent, find_conversation
from .runs import done

MOST_LISTED = 1_000
ASK_SECONDS = 5.0  # after which the endpoints that were not asked yet are not


class ModelForm(forms.Form):
    """The handle of a model that the owner of an agent may have."""

    model = forms.CharField(max_length=200, required=False)

    def __init__(self, owner_id: int, *args: Any) -> None:
        super().__init__(*args)
        self.owner_id = owner_id

    def clean_model(self) -> str:
        handle = str(self.cleaned_data["model"])
        check_choice(handle, self.owner_id)
        return handle


@login_required
@require_GET
def index(request: Request, agent_id: UUID | None = None) -> HttpResponse:
    """The models to choose from, as the options of an input."""
    _, owner_id = whose(request, agent_id)
    names, problems = listed(owner_id)
    context = {"names": names, "problems": problems, "default": name_of_default(owner_id)}
    return render(request, "agents/models/_list.html", context)


def whose(request: Request, agent_id: UUID | None) -> tuple[Agent | None, int]:
    """The agent that is meant, and whose endpoints and keys count."""
    agent = find_agent(request, agent_id) if agent_id else None
    return agent, agent.owner_id if agent else request.user.pk


def listed(owner_id: int) -> tuple[list[str], list[str]]:
    """The handles of all models that a person may choose, and why some endpoints list none."""
    default, until = default_endpoint(owner_id), time.monotonic() + ASK_SECONDS
    others = {n: e for n, e in named_endpoints(owner_id).items() if e != default}
    endpoints: list[tuple[str, Endpoint]] = [("", default)]
    endpoints += [(f"{name}/", endpoint) for name, endpoint in others.items()]
    names: list[str] = []
    problems: list[str] = []
    for prefix, endpoint in endpoints:
        if endpoint.is_demo:
            names.append(f"{prefix}{default_model(endpoint)}")
            continue
        try:
            endpoint.check()
            models = listed_models(endpoint, ask=time.monotonic() < until)
        except ModelError as error:
            problems.append(translated(str(error)))
        else:
            names += [f"{prefix}{model}" for model in models]
    return names[:MOST_LISTED], problems


def name_of_default(owner_id: int) -> str:
    """The model that answers where none is chosen; "" if there is none."""
    try:
        return resolve("", owner_id, ask=False)[1]
    except ModelError:
        return ""


@login_required
@require_POST
def choose(request: Request, agent_id: UUID, conversation_id: UUID | None = None) -> HttpResponse:
    """Give the agent another model, or the conversation, where it has one of its own.

    POST: `model`, a handle; empty for the default one, or for the agent's.
    """
    conversation = find_conversation(request, agent_id, conversation_id)
    form = ModelForm(conversation.agent.owner_id, request.POST)
    if not form.is_valid():
        findings = [Finding(False, str(words)) for words in form.errors["model"]]
        return render(request, "agents/models/_trial.html", {"findings": findings}, status=422)
    if conversation.model:
        conversation.configure(model=form.cleaned_data["model"])
    else:
        conversation.agent.configure(model=form.cleaned_data["model"])
    return done(request, conversation)


@login_required
@require_POST
def try_out(request: Request, agent_id: UUID | None = None) -> HttpResponse:
    """Try a model out and say what was found. POST: `model`, and the settings of a form."""
    agent, owner_id = whose(request, agent_id)
    try:
        settings = settings_typed(request)
        form = ModelForm(owner_id, request.POST)
        if not form.is_valid():
            raise ValidationError(form.errors["model"].as_data())
        endpoint, model = resolve(form.cleaned_data["model"], owner_id)
    except (ValidationError, ModelError) as error:
        words = error.messages if isinstance(error, ValidationError) else [str(error)]
        findings = [Finding(False, each) for each in words]
    else:
        if settings is None:
            settings = agent.model_settings if agent else {}
        findings = Trial(endpoint, model, request.user.pk, settings).carry_out().findings
    return render(request, "agents/models/_trial.html", {"findings": findings})


def settings_typed(request: Request) -> dict[str, Any] | None:
    """The model settings of the form that was sent; None where it has none."""
    field = ModelSettingsField(required=False)
    if not any(name.startswith("model_settings-") for name in request.POST):
        return None
    value = ModelSettingsWidget().value_from_datadict(request.POST, request.FILES, "model_settings")
    settings: dict[str, Any] = field.clean(value)
    Agent._meta.get_field("model_settings").run_validators(settings)
    return settings
