"""The API's operations, document and addresses, each with and without a slash at the end."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path, re_path
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema
from pydantic import TypeAdapter

from . import (
    agent_files,
    agents,
    all_messages,
    archives,
    blocks,
    catalogue,
    contexts,
    conversations,
    errors,
    identities,
    messages,
    passages,
    runs,
    schedules,
    searching,
    steps,
    tool_runs,
    tools,
)
from .parser import CleanParser

View = Callable[..., HttpResponseBase]

DESCRIPTION = (
    "Agents with memory, over HTTP, for the letta-client SDKs and in their terms. Send the header"
    " Authorization: Bearer with a token made at /tokens/; on a server without accounts, requests"
    " from the same machine need no token. Addresses work with and without a slash at the end."
)
ERRORS = {
    400: "The request cannot be read.",
    401: "A token is needed, or the one sent is not valid.",
    403: "The token may not do this, or the request comes from another site.",
    404: "It does not exist, or is not yours.",
    409: "It conflicts with the current state.",
    413: "The request is too large.",
    415: "The body is not declared as JSON.",
    429: "Too many requests; try again after the seconds in Retry-After.",
    501: "Letta has this; here something else stands in for it, which the answer names.",
    502: "The model's endpoint failed.",
    503: "The database is not available; try again after the seconds in Retry-After.",
}


class Api(NinjaAPI):
    """The operations, and a document that lists every answer they can give."""

    def get_openapi_schema(self, **kwargs: Any) -> OpenAPISchema:
        document = super().get_openapi_schema(**kwargs)
        shapes = document["components"]["schemas"]
        for model in (errors.Error, errors.Invalid):
            schema = TypeAdapter(model).json_schema(ref_template="#/components/schemas/{model}")
            shapes.update(schema.pop("$defs", {}))
            shapes[model.__name__] = schema
        for operations in document["paths"].values():
            for operation in operations.values():
                operation["responses"].update(error_answers())
        return document


def error_answers() -> dict[int, Any]:
    """The errors that any operation can answer with."""

    def described(words: str, shape: str) -> dict[str, Any]:
        schema = {"$ref": f"#/components/schemas/{shape}"}
        return {"description": words, "content": {"application/json": {"schema": schema}}}

    answers = {status: described(words, "Error") for status, words in ERRORS.items()}
    return answers | {422: described("A field is wrong; `loc` names it.", "Invalid")}


api = Api(
    title="memoryweb",
    version="1",
    description=DESCRIPTION,
    docs_url=None,
    parser=CleanParser(),
    urls_namespace="api",
)
for module in (
    *(agents, agent_files, blocks, tools, tool_runs, messages, conversations),
    *(
        searching,
        all_messages,
        contexts,
        archives,
        passages,
        runs,
        schedules,
        steps,
        identities,
        catalogue,
    ),
):
    api.add_router("", module.router)
errors.handle(api)


def addresses() -> list[URLPattern]:
    """Each address as the document has it, and with or without a slash at its end.

    Fixed parts come before parts that can be an id.
    """
    patterns = []
    for pattern in api.urls[0]:
        assert isinstance(pattern, URLPattern)
        route, view = str(pattern.pattern), with_error_for_methods(pattern.callback)
        patterns.append(path(route, view, name=pattern.name))
        other = route.removesuffix("/") if route.endswith("/") else f"{route}/"
        if route:
            patterns.append(path(other, view))
    return sorted(patterns, key=lambda each: ["<" in p for p in parts(each)])


def with_error_for_methods(view: View) -> View:
    """The view; for a method that it does not have, it answers with an error in the API's shape."""

    @wraps(view)
    def respond(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = view(request, *args, **kwargs)
        if response.status_code not in (404, 405):
            return response
        refused = errors.answer(errors.absent(response.status_code, request))
        if response.status_code == 405:
            refused["Allow"] = response["Allow"]
        return refused if response.status_code == 405 or refused.status_code == 501 else response

    return csrf_exempt(respond)


@csrf_exempt
def nothing_here(request: HttpRequest) -> HttpResponseBase:
    """Any other address."""
    return errors.answer(errors.absent(404, request))


def parts(pattern: URLPattern) -> list[str]:
    return str(pattern.pattern).split("/")


def document(request: HttpRequest) -> OpenAPISchema:
    """The OpenAPI document."""
    return api.get_openapi_schema(path_prefix="/v1/")


urlpatterns = [*addresses(), re_path("", nothing_here)]
