"""Agent files: an agent downloaded as one, and agents made of one."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET

from agents.agent_file import (
    LARGEST,
    AgentFileError,
    Imported,
    import_agent,
    read,
)
from agents.agent_file.download import download
from agents.agent_file.reading import too_large
from agents.models import Agent
from agents.text.numbers import whole

from .request import Request, find_agent

MOST_NOTES = 200  # that are shown
NEWEST = "imported"  # the session's key for the newest import


class ImportForm(forms.Form):
    """A file to make agents of."""

    file = forms.FileField(
        label=_("Agent file"),
        help_text=format_lazy(
            _(
                "A .af file of at most {megabytes} MB, in Letta's older or newer format, or"
                " exported here."
            ),
            megabytes=LARGEST // 1024 // 1024,
        ),
        widget=forms.ClearableFileInput(attrs={"accept": ".af,.json,application/json"}),
    )
    name = forms.CharField(
        label=_("Name"),
        max_length=100,
        required=False,
        help_text=_("Empty: the name in the file."),
    )
    with_messages = forms.BooleanField(
        label=_("Import the messages"),
        required=False,
        initial=True,
        help_text=_("Without them the agent has its memory and begins a new conversation."),
    )

    def clean_file(self) -> UploadedFile[Any]:
        file: UploadedFile[Any] = self.cleaned_data["file"]
        if (file.size or 0) > LARGEST:
            raise ValidationError(too_large(file.size or 0))
        return file


@login_required
def import_(request: Request) -> HttpResponse:
    """Make agents of a file.

    POST, multipart: `file`, `name`, `with_messages`. 422 where the file is none.
    """
    form = ImportForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            remember_import(request, import_uploaded(request, form.cleaned_data))
            return redirect("agent_imported")
        except AgentFileError as error:
            form.add_error("file", str(error))
    status = 422 if request.method == "POST" else 200
    context = {"form": form}
    return render(request, "agents/agent_files/import.html", context, status=status)


def import_uploaded(request: Request, options: dict[str, Any]) -> Imported:
    return import_agent(
        request.user,
        read(options["file"].read()),
        name=options["name"],
        with_messages=options["with_messages"],
    )


def remember_import(request: Request, imported: Imported) -> None:
    """Keep the import's result for the page that shows it."""
    notes = imported.notes[:MOST_NOTES]
    if more := len(imported.notes) - len(notes):
        words = ngettext("There is %(count)s more note.", "There are %(count)s more notes.", more)
        notes.append(words % {"count": whole(more)})
    request.session[NEWEST] = {
        "agents": [str(each.pk) for each in imported.agents],
        "notes": notes,
        "missing": {str(pk): names for pk, names in imported.missing.items()},
    }


@login_required
@never_cache
@sensitive_post_parameters()
def imported(request: Request) -> HttpResponse:
    """What the newest import made, and what it left out.

    POST: `agent`, and a value in `secret.NAME` for each of its environment variables that has none;
    those that are left empty are stored later or never.
    """
    newest = request.session.get(NEWEST)
    if newest is None:
        return redirect("agent_import")
    made = Agent.objects.visible_to(request.user).filter(pk__in=newest["agents"])
    missing = newest.get("missing", {})
    error = ""
    if request.method == "POST":
        agent = next((each for each in made if str(each.pk) == request.POST.get("agent")), None)
        if agent is None:
            raise Http404
        try:
            agent.put_secrets(entered(request, missing.get(str(agent.pk), [])))
            return redirect("agent_imported")
        except ValidationError as refusal:
            error = " ".join(refusal.messages)
    context = {
        "imported": made.order_by("created_at"),
        "notes": newest["notes"],
        "missing": [(each, names) for each in made if (names := unset(each, missing))],
        "error": error,
    }
    template = "agents/agent_files/imported.html"
    return render(request, template, context, status=422 if error else 200)


def entered(request: Request, names: list[str]) -> dict[str, str]:
    """The values that a person entered for variables of these names."""
    values = {name: request.POST.get(f"secret.{name}", "") for name in names}
    return {name: value for name, value in values.items() if value}


def unset(agent: Agent, missing: dict[str, list[str]]) -> list[str]:
    """Those of an agent's variables in the file that have no value by now."""
    return [name for name in missing.get(str(agent.pk), []) if name not in agent.secrets]


@login_required
@require_GET
def export(request: Request, agent_id: UUID) -> StreamingHttpResponse:
    """The agent as an agent file."""
    agent = find_agent(request, agent_id)
    return download(request, agent)
