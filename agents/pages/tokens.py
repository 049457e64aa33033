"""Personal access tokens: made, shown once, revoked. And the operations they are for."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from agents.models import Token
from agents.models.token import SCOPES

from .request import Request


@login_required
@never_cache
def index(request: Request) -> HttpResponse:
    """A person's tokens. POST: `name` and `scopes` make one, whose secret is on this page only."""
    context: dict[str, Any] = {"chosen": ["read", "chat"]}
    status = 200
    if request.method == "POST":
        name, scopes = request.POST.get("name", ""), request.POST.getlist("scopes")
        try:
            token, secret = Token.make(request.user, name, scopes)
            context |= {"token": token, "secret": secret}
        except ValidationError as error:
            context |= {"name": name, "chosen": scopes, "errors": messages_by_field(error)}
            status = 422
    context |= {"tokens": Token.objects.of(request.user), "scopes": SCOPES, "at_tokens": True}
    return render(request, "agents/tokens/index.html", context, status=status)


def messages_by_field(error: ValidationError) -> list[str]:
    """The errors, each with the field it is about."""
    if not hasattr(error, "error_dict"):
        return list(error.messages)
    names = {"name": gettext("Name"), "scopes": gettext("What it may do")}
    return [
        f"{names[field]}: {words}" if field in names else words
        for field, messages in error.message_dict.items()
        for words in messages
    ]


@login_required
@require_POST
def revoke(request: Request, token_id: int) -> HttpResponse:
    """Revoke a token: from now on no script gets in with it."""
    get_object_or_404(Token.objects.of(request.user), pk=token_id).delete()
    return redirect("tokens")


@login_required
@require_GET
def operations(request: Request) -> HttpResponse:
    """Every operation of the API, as its document has it."""
    # the API takes 0.3 s and 9 MB, which no other page needs
    from agents.api.urls import document  # noqa: PLC0415

    found: dict[str, list[dict[str, Any]]] = {}
    described = document(request)
    for address, methods in described["paths"].items():
        for method, operation in methods.items():
            shown = described_operation(method, address, operation)
            found.setdefault(operation.get("tags", ["more"])[0], []).append(shown)
    context = {"groups": found, "described": described["info"], "at_tokens": True}
    return render(request, "agents/tokens/operations.html", context)


def described_operation(method: str, address: str, operation: dict[str, Any]) -> dict[str, Any]:
    """What the page shows of an operation."""
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    answer = operation["responses"].get(200, {}).get("content", {}).get("application/json", {})
    return {
        "method": method.upper(),
        "address": address,
        "id": operation["operationId"],
        "about": operation.get("description", ""),
        "parameters": [
            {"name": each["name"], "where": each["in"], "required": each.get("required", False)}
            for each in operation.get("parameters", [])
        ],
        "takes": shape(body.get("schema", {})),
        "gives": shape(answer.get("schema", {})),
    }


def shape(schema: dict[str, Any]) -> str:
    """A schema's name in a word or two."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if schema.get("type") == "array":
        return gettext("list of %(type)s") % {"type": shape(schema.get("items", {}))}
    return str(schema.get("type", ""))
