"""No field of a request is dropped in silence: each acts, is refused by name, or is named in the
answer's header `Memoryweb-Notes`.

A field that Letta's clients send and that has no effect here is declared in its shape as `Unused`,
with the reason; one that would change something that is not here as `Refused`. The API's document
shows both. What no shape declares is unknown, and named as such.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

HEADER = "Memoryweb-Notes"
MOST_NAMES, LONGEST_NAME = 30, 60  # in the header
READ = ("type", "text")  # of a part of a message
SOURCES = {
    "base64": ("type", "data", "media_type"),
    "url": ("type", "url"),
    "letta": ("type", "file_id", "media_type"),
}
SAYS_NOTHING: tuple[Any, ...] = (None, False, "", [], {})


@dataclass(frozen=True)
class Unused:
    """A field that is taken and has no effect, and why."""

    why: str

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"description": f"Has no effect: {self.why}.", "deprecated": True}


@dataclass(frozen=True)
class Refused:
    """A field that only takes a value that asks for nothing, such as null, and why."""

    why: str

    def __get_pydantic_core_schema__(self, kind: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        def check(value: Any) -> Any:
            if value not in SAYS_NOTHING:
                raise PydanticCustomError("not_supported", "{why}.", {"why": self.why})
            return value

        return core_schema.no_info_after_validator_function(check, handler(kind))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"description": f"Is refused: {self.why}.", "deprecated": True}


class Parts:
    """A message's content, of whose parts the text is read, and what an image comes from."""


# -- what a request said in vain -------------------------------------------------------------------


@dataclass
class Ignored:
    """The fields of a request that have no effect, and those that nobody knows."""

    unused: list[str]
    unknown: list[str]

    def header(self) -> str:
        """Both in sentences, in ASCII; "" where there are none."""
        words = [("No effect", self.unused), ("Unknown", self.unknown)]
        return " ".join(f"{title}: {listed(names)}." for title, names in words if names)


def listed(names: list[str]) -> str:
    """Names in ASCII, each once and cut, at most so many."""
    each = list(dict.fromkeys(ascii(name[:LONGEST_NAME])[1:-1] for name in names))
    more = [f"and {len(each) - MOST_NAMES} more"] if len(each) > MOST_NAMES else []
    return ", ".join(each[:MOST_NAMES] + more)


def ignored(value: Any, sent: Any, place: str = "") -> Iterator[tuple[str, bool]]:
    """The names of fields that have no effect, and whether a shape declares them.

    `value` is what was read, `sent` the JSON that it was read from.
    """
    if isinstance(value, list) and isinstance(sent, list):
        for one, given in zip(value, sent, strict=False):
            yield from ignored(one, given, place)
    if not (isinstance(value, BaseModel) and isinstance(sent, Mapping)):
        return
    fields = type(value).model_fields
    for name, given in sent.items():
        field, path = fields.get(name), f"{place}{name}"
        if field is None:
            yield path, False
        elif any(isinstance(each, Unused) for each in field.metadata):
            if given not in SAYS_NOTHING:
                yield path, True
        elif Parts in field.metadata and isinstance(given, list):
            yield from ((f"{path}.{key}", True) for part in given for key in unread(part))
        else:
            yield from ignored(getattr(value, name), given, f"{path}.")


def unread(part: Any) -> list[str]:
    """What a part of a message has beside its text, or beside what says where its image is."""
    if not isinstance(part, dict):
        return []
    source = part.get("source")
    beside = [key for key, value in part.items() if key not in READ and value is not None]
    if not isinstance(source, dict):
        return beside
    read = SOURCES.get(str(source.get("type")), [*READ, *sum(SOURCES.values(), ())])
    beside.remove("source")
    named = [key for key, value in source.items() if key not in read and value is not None]
    return beside + [f"source.{key}" for key in named]


class Reader:
    """What an operation reads of a request."""

    def __init__(self, models: list[Any]) -> None:
        """`models` are django-ninja's of the operation."""
        self.body: list[str] = []
        self.plain: dict[str, set[str]] = {}
        for model in models:
            source = model.__ninja_param_source__
            if source == "body":
                self.body += list(model.model_fields)
            elif source in ("query", "form", "file"):
                names = getattr(model, "__ninja_flatten_map__", model.model_fields)
                self.plain.setdefault("query" if source == "query" else "form", set()).update(names)

    def ignored(self, request: HttpRequest, parameters: Mapping[str, Any]) -> Ignored:
        """What of a request has no effect."""
        found = Ignored([], [])
        names = [*self._of_body(request, parameters), *self._of_forms(request, parameters)]
        for name, declared in names:
            (found.unused if declared else found.unknown).append(name)
        return found

    def _of_body(
        self, request: HttpRequest, parameters: Mapping[str, Any]
    ) -> Iterator[tuple[str, bool]]:
        if "form" in self.plain:
            return
        if self.body:
            sent = getattr(request, "sent_body", None)
            yield from ignored(parameters.get(self.body[0]), sent)
        elif request.content_type == "application/json" and request.body:
            try:
                sent = json.loads(request.body)
            except (ValueError, RecursionError):
                sent = None
            yield from ((name, False) for name in (sent if isinstance(sent, dict) else ()))

    def _of_forms(
        self, request: HttpRequest, parameters: Mapping[str, Any]
    ) -> Iterator[tuple[str, bool]]:
        given = {"query": list(request.GET)}
        if "form" in self.plain:
            given["form"] = [*request.POST, *request.FILES]
        shapes = [value for value in parameters.values() if isinstance(value, BaseModel)]
        for source, sent in given.items():
            for name in (each.removesuffix("[]") for each in sent):
                fields = [type(shape).model_fields.get(name) for shape in shapes]
                marks = [mark for field in fields if field for mark in field.metadata]
                if any(isinstance(mark, Unused) for mark in marks):
                    yield name, True
                elif name not in self.plain.get(source, ()):
                    yield name, False


def noted(view: Callable[..., HttpResponseBase], reader: Reader) -> Callable[..., HttpResponseBase]:
    """The view; its answer names what of the request had no effect."""

    def answer(request: HttpRequest, **parameters: Any) -> HttpResponseBase:
        response = view(request, **parameters)
        if words := reader.ignored(request, parameters).header():
            response[HEADER] = " ".join(filter(None, [response.headers.get(HEADER), words]))
        return response

    return answer
