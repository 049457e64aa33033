"""Errors in the shape from which the SDKs make their typed exceptions: `{"detail": …}`.

422 has a list of `{loc, msg, type}`, one for each field; everything else a sentence.
"""

from __future__ import annotations

import logging
from typing import Any

from django.core.exceptions import RequestDataTooBig, ValidationError
from django.db import DataError, IntegrityError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.multipartparser import MultiPartParserError
from ninja import NinjaAPI
from ninja.errors import AuthenticationError
from ninja.errors import HttpError as NinjaError
from ninja.errors import ValidationError as InvalidInput
from pydantic import BaseModel

from agents.models import LimitReached, MemoryRefusal
from agents.models.database_errors import RETRY_SECONDS, unavailable
from agents.models.editing import as_sentence

logger = logging.getLogger(__name__)


class Error(BaseModel):
    """What was wrong, in a sentence."""

    detail: str


class Wrong(BaseModel):
    """What is wrong with one field; `loc` leads to it."""

    loc: list[str | int]
    msg: str
    type: str


class Invalid(BaseModel):
    """What is wrong with a request, field by field."""

    detail: list[Wrong]


class Refused(Exception):
    """An answer that is no success."""

    def __init__(self, status: int, detail: Any, **headers: str) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, headers
        self.beside: dict[str, Any] = {}  # what the answer tells beside the detail


def not_found(noun: str, given: object) -> Refused:
    """404: it is not there, or not this person's, which is told in the same words."""
    return Refused(404, f"{noun.capitalize()} with ID {given} not found")


def absent(status: int, request: HttpRequest) -> Refused:
    """404 or 405: an address, or a method of one, that this server does not have."""
    asked = f"{request.method} {request.path}"
    words = f"This server has no operation {asked}; /v1/openapi.json lists those it has."
    return Refused(status, words)


def conflict(words: str) -> Refused:
    return Refused(409, words)


def invalid(field: str, words: str) -> Refused:
    """422 that names a field of the body."""
    return Refused(422, [{"loc": ["body", field], "msg": words, "type": "value_error"}])


def later(words: str) -> Refused:
    """503: the database does not work just now."""
    return Refused(503, f"{words} Try again.", **{"Retry-After": str(RETRY_SECONDS)})


def answer(error: Refused) -> HttpResponse:
    """The response that an error is."""
    response = JsonResponse({"detail": error.detail, **error.beside}, status=error.status)
    for name, value in error.headers.items():
        response[name] = value
    if error.status == 401:
        response["WWW-Authenticate"] = "Bearer"
    return response


def refused(error: Exception) -> Refused:
    """An exception of ours, of Django's or of ninja's as an error of the wire."""
    if words := unavailable(error):
        return later(words)
    match error:
        case Refused():
            return error
        case InvalidInput():
            return Refused(422, [wrong(each) for each in error.errors])
        case LimitReached():
            return Refused(429, str(error), **{"Retry-After": str(error.seconds)})
        case MemoryRefusal():
            return invalid("value", as_sentence(str(error)))
        case ValidationError():
            return Refused(422, told(error))
        case AuthenticationError():
            return Refused(401, "A token is needed: Authorization: Bearer <token>.")
        case NinjaError():
            return Refused(error.status_code, str(error))
        case Http404():
            return Refused(404, "There is nothing here of that name.")
        case IntegrityError():
            return conflict("Something else was stored at the same moment; look, and try again.")
        case DataError() | OverflowError() | UnicodeError():
            return invalid("__all__", "A value cannot be stored: too large, or no text.")
        case MultiPartParserError():
            return Refused(400, f"The form cannot be read: {error}")
        case RequestDataTooBig():
            return Refused(413, "The request is too large.")
    logger.exception("A request of the API failed.", exc_info=error)
    words = f"memoryweb itself failed ({type(error).__name__}); the server's log says where."
    return Refused(500, words)


def wrong(error: dict[str, Any]) -> dict[str, Any]:
    """A field's error without the name of our own parameter: `body.data.name` is `body.name`.

    A form's fields, and its file, are the body as well.
    """
    loc = list(error.get("loc", []))
    if loc[:1] == ["body"] and len(loc) > 1:
        del loc[1]
    if loc[:1] in (["form"], ["file"]):
        loc[0] = "body"
    return {"loc": loc, "msg": error.get("msg", ""), "type": error.get("type", "value_error")}


def told(error: ValidationError) -> list[dict[str, Any]]:
    """Django's errors, field by field."""
    fields = error.message_dict if hasattr(error, "error_dict") else {"__all__": error.messages}
    return [
        {"loc": ["body", field], "msg": words, "type": "value_error"}
        for field, messages in fields.items()
        for words in messages
    ]


def handle(api: NinjaAPI) -> None:
    """Have the API answer each exception as an error of the wire."""

    def respond(request: HttpRequest, error: Exception | type[Exception]) -> HttpResponse:
        return answer(refused(error if isinstance(error, Exception) else error()))

    for kind in (Exception, InvalidInput, AuthenticationError, NinjaError, Http404):
        api.add_exception_handler(kind, respond)
