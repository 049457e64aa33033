"""A person's own keys for endpoints of models: only ever taken in."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from agents.models import ModelEndpoint, PersonalKey
from agents.models.model_endpoint import ModelEndpointQuerySet

from .request import Request


@login_required
@never_cache
@sensitive_post_parameters()
def index(request: Request) -> HttpResponse:
    """The endpoints that take keys of people's own. POST: `endpoint` and `key` store one."""
    errors: list[str] = []
    if request.method == "POST":
        pk = request.POST.get("endpoint", "")
        endpoint = get_object_or_404(offered_to(request), pk=pk if pk.isdecimal() else 0)
        try:
            PersonalKey.put(request.user, endpoint, request.POST.get("key", ""))
            return redirect("model_keys")
        except ValidationError as error:
            errors = error.messages
    own = {each.endpoint_id: each for each in PersonalKey.objects.of(request.user)}
    offered = [(endpoint, own.get(endpoint.pk)) for endpoint in offered_to(request)]
    context = {"offered": offered, "errors": errors}
    return render(request, "account/model_keys.html", context, status=422 if errors else 200)


@login_required
@require_POST
def delete(request: Request, endpoint_id: int) -> HttpResponse:
    """Delete the person's own key for an endpoint."""
    own = PersonalKey.objects.filter(user=request.user)
    get_object_or_404(own, endpoint=endpoint_id).delete()
    return redirect("model_keys")


def offered_to(request: Request) -> ModelEndpointQuerySet:
    return ModelEndpoint.objects.usable_by(request.user).with_own_keys()
