"""The pages of one's own custom tools: listed, written, tried, deleted."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from agents.models import Agent, LimitReached
from agents.models.tool import Tool
from agents.tools import ToolError, custom
from agents.tools.attaching import ChangedMeanwhile, create, remove, rewrite, used_by
from agents.tools.dry_run import dry_run

from .forms.tool import ToolForm
from .forms.tool_arguments import ArgumentsForm
from .request import Request
from .tools import described


@login_required
@require_GET
def index(request: Request) -> HttpResponse:
    """A person's own tools, and the agents that use each."""
    users = used_by(request.user)
    own = Tool.objects.visible_to(request.user)
    rows = [(tool, users.get(tool.name, [])) for tool in own]
    _, disabled_reason = custom.available()
    context = {"tools": rows, "disabled_reason": disabled_reason, "at_tools": True}
    return render(request, "agents/tools/index.html", context)


@login_required
def new(request: Request) -> HttpResponse:
    """Write a tool."""
    tool = Tool(owner=request.user)
    form = ToolForm(request.POST or None, tool=tool)
    if request.method == "POST" and form.is_valid():
        try:
            return redirect("tool", create(request.user, **form.changes()).pk)
        except ValidationError as error:
            form.refuse(error)
    return render(
        request, "agents/tools/edit.html", tool_context(request, form), status=status_of(form)
    )


@login_required
def edit(request: Request, tool_id: UUID) -> HttpResponse:
    """Change a tool. POST: the form, and `seen`, which version of the tool it began from."""
    tool = get_object_or_404(Tool.objects.visible_to(request.user), pk=tool_id)
    seen = tool.updated_at
    stored_source = tool.source
    form = ToolForm(request.POST or None, tool=tool)
    overtaken = False
    if request.method == "POST" and form.is_valid():
        try:
            rewrite(tool, began_from(request), **form.changes())
            return redirect("tool", tool.pk)
        except ChangedMeanwhile:
            overtaken = True
        except ValidationError as error:
            form.refuse(error)
    context = tool_context(request, form) | {
        "seen_at": seen.isoformat() if overtaken else request.POST.get("seen", seen.isoformat()),
        "stored_source": stored_source if overtaken else None,
        "users": used_by(request.user).get(form.named, []),
        "changed_at": seen,
    }
    code = 409 if overtaken else status_of(form)
    return render(request, "agents/tools/edit.html", context, status=code)


def began_from(request: Request) -> datetime:
    """The `updated_at` of the tool that the person began to change."""
    try:
        moment = parse_datetime(request.POST.get("seen", ""))
    except ValueError:
        moment = None
    return moment or datetime.min


def status_of(form: ToolForm) -> int:
    return 422 if form.errors else 200


def tool_context(request: Request, form: ToolForm) -> dict[str, Any]:
    """What a tool's page is drawn from."""
    runs, disabled_reason = custom.available()
    users = used_by(request.user).get(form.named, []) if form.named else []
    choices = list(Agent.objects.visible_to(request.user))
    return {
        **source_context(form),
        "form": form,
        "tool_id": None if form.tool._state.adding else form.tool.pk,
        "runs": runs,
        "disabled_reason": disabled_reason,
        "choices": choices,
        "chosen": next(iter(users or choices), None),
        "at_tools": True,
    }


def source_context(form: ToolForm) -> dict[str, Any]:
    """What the source says: how the model sees the tool, and a form of its arguments."""
    if not form.is_bound:
        return source_context(ToolForm({"source": form.initial["source"]}, tool=form.tool))
    form.is_valid()
    schema = form.definition.schema if form.definition else None
    return {
        "errors": [str(error) for error in form.errors.get("source", [])],
        "line": form.line,
        "schema": schema,
        "schema_json": json.dumps(schema, indent=2, ensure_ascii=False),
        "tool": described(schema) if schema else None,
        "arguments": ArgumentsForm(schema, form.data) if schema else None,
        "renamed_from": form.named if schema and schema["name"] != form.named else "",
    }


def own_tool(request: Request, tool_id: UUID | None) -> Tool:
    """A tool of the person's own, or one to be."""
    if tool_id is None:
        return Tool(owner=request.user)
    return get_object_or_404(Tool.objects.visible_to(request.user), pk=tool_id)


@login_required
@require_POST
def read(request: Request, tool_id: UUID | None = None) -> HttpResponse:
    """What is read off a source that is being typed. POST: the tool's form, the try's form."""
    form = ToolForm(request.POST, tool=own_tool(request, tool_id))
    return render(request, "agents/tools/_read.html", source_context(form))


@login_required
@require_POST
def try_tool(request: Request, tool_id: UUID | None = None) -> HttpResponse:
    """Run a source on an agent's memory, changing nothing. POST: as `read`, and `agent`."""
    form = ToolForm(request.POST, tool=own_tool(request, tool_id))
    form.is_valid()
    blocking = [f for f in form.errors if f != "source" or not form.definition]
    if blocking:
        reasons = [str(error) for field in blocking for error in form.errors[field]]
        return refusal(request, " ".join(reasons), form.line)
    agent = chosen_agent(request)
    if agent is None:
        words = gettext("Choose one of your agents: the tool is tried on its memory.")
        return refusal(request, words)
    try:
        schema = form.tool.json_schema
        arguments = ArgumentsForm(schema, request.POST).arguments()
        context = {"trial": dry_run(request.user, form.tool, agent, arguments), "agent": agent}
    except ValidationError as error:
        return refusal(request, " ".join(error.messages))
    except ToolError as error:
        return refusal(request, str(error))
    except LimitReached as limit:
        answer = refusal(request, str(limit), code=429)
        answer.headers["Retry-After"] = str(limit.seconds)
        return answer
    return render(request, "agents/tools/_trial.html", context)


def chosen_agent(request: Request) -> Agent | None:
    """The agent that was chosen, if it is the person's."""
    try:
        pk = UUID(request.POST.get("agent", ""))
    except ValueError:
        return None
    return Agent.objects.visible_to(request.user).filter(pk=pk).first()


def refusal(request: Request, error: str, line: int = 0, code: int = 422) -> HttpResponse:
    context = {"error": error, "line": line}
    return render(request, "agents/tools/_refusal.html", context, status=code)


@login_required
def delete(request: Request, tool_id: UUID) -> HttpResponse:
    """Ask, then delete a tool."""
    tool = get_object_or_404(Tool.objects.visible_to(request.user), pk=tool_id)
    if request.method == "POST":
        remove(tool)
        return redirect("tools")
    context = {"tool": tool, "users": used_by(request.user).get(tool.name, [])}
    return render(request, "agents/tools/delete.html", context | {"at_tools": True})
