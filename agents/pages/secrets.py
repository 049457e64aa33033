"""An agent's secrets: their names are shown, their values are only ever taken in."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from .request import Request, find_agent


@login_required
@never_cache
@sensitive_post_parameters()
def index(request: Request, agent_id: UUID) -> HttpResponse:
    """The names of an agent's secrets. POST: `name` and `value` add one, or replace its value."""
    agent = find_agent(request, agent_id)
    name, errors = "", []
    if request.method == "POST":
        name = request.POST.get("name", "").strip()
        try:
            agent.put_secrets({name: request.POST.get("value", "")})
            return redirect("secrets", agent.pk)
        except ValidationError as error:
            errors = error.messages
    context = {"agent": agent, "name": name, "errors": errors}
    return render(request, "agents/secrets.html", context, status=422 if errors else 200)


@login_required
@require_POST
def delete(request: Request, agent_id: UUID) -> HttpResponse:
    """Delete a secret. POST: `name`."""
    agent = find_agent(request, agent_id)
    agent.delete_secret(request.POST.get("name", ""))
    return redirect("secrets", agent.pk)
