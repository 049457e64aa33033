"""The API put together: its operations, its document, its addresses with and without a slash."""

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
    blocks,
    catalogue,
    errors,
    identities,
    messages,
    passages,
    runs,
    steps,
    tools,
)
from .parser import CleanParser

View = Callable[..., HttpResponseBase]

DESCRIPTION = (
    "Agents with memory, over HTTP. Made for the letta-client SDKs, whose words it uses."
    " Authorization: Bearer and a token made at /tokens/; on a server without accounts none is"
    " needed from the machine itself. Every address may have a slash at its end or not."
)
WRONG = {
    400: "The request cannot be read.",
    401: "A token is needed, or the one shown is not valid.",
    403: "The token may not do this, or the request comes from elsewhere.",
    404: "It is not there, or not yours.",
    409: "It conflicts with what there is.",
    413: "The request is too large.",
    415: "The body is not said to be JSON.",
    429: "Too much at once; try again after the seconds in Retry-After.",
    502: "The model's endpoint failed.",
    503: "The database does not work just now; try again after the seconds in Retry-After.",
}


class Api(NinjaAPI):
    """The operations, and a document that names every answer they may give."""

    def get_openapi_schema(self, **kwargs: Any) -> OpenAPISchema:
        document = super().get_openapi_schema(**kwargs)
        shapes = document["components"]["schemas"]
        for model in (errors.Error, errors.Invalid):
            made = TypeAdapter(model).json_schema(ref_template="#/components/schemas/{model}")
            shapes.update(made.pop("$defs", {}))
            shapes[model.__name__] = made
        for operations in document["paths"].values():
            for operation in operations.values():
                operation["responses"].update(answers())
        return document


def answers() -> dict[int, Any]:
    """What any operation may answer where it does not do what was asked."""

    def described(words: str, shape: str) -> dict[str, Any]:
        schema = {"$ref": f"#/components/schemas/{shape}"}
        return {"description": words, "content": {"application/json": {"schema": schema}}}

    found = {status: described(words, "Error") for status, words in WRONG.items()}
    return found | {422: described("A field is wrong; it is named.", "Invalid")}


api = Api(
    title="memoryweb",
    version="1",
    description=DESCRIPTION,
    docs_url=None,
    parser=CleanParser(),
    urls_namespace="api",
)
for module in (
    *(agents, agent_files, blocks, tools, messages),
    *(passages, runs, steps, identities, catalogue),
):
    api.add_router("", module.router)
errors.handle(api)


def addresses() -> list[URLPattern]:
    """Each address as the document has it, then with or without a slash at its end.

    What is spelled out comes before what an id may stand for.
    """
    found = []
    for pattern in api.urls[0]:
        assert isinstance(pattern, URLPattern)
        route, view = str(pattern.pattern), told_of_methods(pattern.callback)
        found.append(path(route, view, name=pattern.name))
        twin = route.removesuffix("/") if route.endswith("/") else f"{route}/"
        if route:
            found.append(path(twin, view))
    return sorted(found, key=lambda each: ["<" in p for p in parts(each)])


def told_of_methods(view: View) -> View:
    """The view; what it says of a method that it does not have is an error of the wire."""

    @wraps(view)
    def ask(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = view(request, *args, **kwargs)
        if response.status_code != 405:
            return response
        refused = errors.answer(errors.absent(405, request))
        refused["Allow"] = response["Allow"]
        return refused

    return csrf_exempt(ask)


@csrf_exempt
def nothing_here(request: HttpRequest) -> HttpResponseBase:
    """Whatever other address a script asks for."""
    return errors.answer(errors.absent(404, request))


def parts(pattern: URLPattern) -> list[str]:
    return str(pattern.pattern).split("/")


def document(request: HttpRequest) -> OpenAPISchema:
    """The OpenAPI document."""
    return api.get_openapi_schema(path_prefix="/v1/")


urlpatterns = [*addresses(), re_path("", nothing_here)]
