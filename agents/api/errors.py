"""Errors in the shape from which the SDKs make their typed exceptions: `{"detail": …}`.

422 has a list of `{loc, msg, type}`, one for each field; everything else a sentence.
"""

from __future__ import annotations

import logging
from typing import Any

from django.core.exceptions import RequestDataTooBig, ValidationError
from django.db import DataError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.multipartparser import MultiPartParserError
from ninja import NinjaAPI
from ninja.errors import AuthenticationError
from ninja.errors import HttpError as NinjaError
from ninja.errors import ValidationError as InvalidInput
from pydantic import BaseModel

from agents.models import LimitReached, MemoryRefusal
from agents.models.database_errors import RETRY_SECONDS, is_conflict, unavailable
from agents.models.editing import as_sentence
from agents.permissions import Forbidden

from .absent import sentence

logger = logging.getLogger(__name__)
LONGEST_RETRY = 60  # seconds that SDKs wait; told a longer time, they try at once and in vain


class CodedError(BaseModel):
    """What went wrong, with a word that programs look for."""

    code: str
    message: str
    pending_request_id: str | None = None


class Error(BaseModel):
    """What went wrong, in a sentence."""

    detail: str | CodedError


class FieldError(BaseModel):
    """What is wrong with one field; `loc` is the path to it."""

    loc: list[str | int]
    msg: str
    type: str


class Invalid(BaseModel):
    """What is wrong with a request, field by field."""

    detail: list[FieldError]


class Refused(Exception):
    """An answer that reports an error."""

    def __init__(self, status: int, detail: Any, **headers: str) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, headers
        self.beside: dict[str, Any] = {}  # further fields of the answer


def not_found(noun: str, key: object) -> Refused:
    """404: it does not exist or belongs to another person; the answer is the same for both."""
    return Refused(404, f"{noun.capitalize()} with ID {key} not found")


def absent(status: int, request: HttpRequest) -> Refused:
    """404 or 405: an address or a method that this server does not have; 501 where Letta has it."""
    if words := sentence(request.method or "", request.path):
        return Refused(501, words, **{"x-should-retry": "false"})
    operation = f"{request.method} {request.path}"
    words = f"This server has no operation {operation}; /v1/openapi.json lists those it has."
    return Refused(status, words)


def conflict(words: str) -> Refused:
    return Refused(409, words)


def invalid(field: str, words: str) -> Refused:
    """422 that names a field of the body."""
    return Refused(422, [{"loc": ["body", field], "msg": words, "type": "value_error"}])


def later(words: str) -> Refused:
    """503: the database is not available at present."""
    return Refused(503, f"{words} Try again.", **{"Retry-After": str(RETRY_SECONDS)})


def too_many(limit: LimitReached) -> Refused:
    """429, and when to try again; an SDK that would have to wait for long is told not to."""
    headers = {"Retry-After": str(limit.seconds)}
    if limit.seconds > LONGEST_RETRY:
        headers["x-should-retry"] = "false"
    return Refused(429, str(limit), **headers)


def answer(error: Refused) -> HttpResponse:
    """The response for an error."""
    response = JsonResponse({"detail": error.detail, **error.beside}, status=error.status)
    for name, value in error.headers.items():
        response[name] = value
    if error.status == 401:
        response["WWW-Authenticate"] = "Bearer"
    return response


def refused(error: Exception) -> Refused:
    """The answer for an exception of memoryweb, Django or django-ninja."""
    if words := unavailable(error):
        return later(words)
    match error:
        case Refused():
            return error
        case InvalidInput():
            return Refused(422, [field_error(each) for each in error.errors])
        case Forbidden():
            return Refused(403, str(error))
        case LimitReached():
            return too_many(error)
        case MemoryRefusal():
            return invalid("value", as_sentence(str(error)))
        case ValidationError():
            return Refused(422, field_errors(error))
        case AuthenticationError():
            return Refused(401, "A token is needed: Authorization: Bearer <token>.")
        case NinjaError():
            return Refused(error.status_code, str(error))
        case Http404():
            return Refused(404, "There is nothing with this name.")
        case _ if is_conflict(error):
            return conflict("Something else was changed at the same time; read it again and retry.")
        case DataError() | OverflowError() | UnicodeError():
            return invalid(
                "__all__", "A value cannot be stored: it is too large or not valid text."
            )
        case MultiPartParserError():
            return Refused(400, f"The form cannot be read: {error}")
        case RequestDataTooBig():
            return Refused(413, "The request is too large.")
    logger.exception("A request of the API failed.", exc_info=error)
    words = f"memoryweb itself failed ({type(error).__name__}); the server's log says where."
    return Refused(500, words)


def field_error(error: dict[str, Any]) -> dict[str, Any]:
    """A field's error without the name of the view's parameter: `body.data.name` is `body.name`.

    A form's fields and its file count as the body.
    """
    loc = list(error.get("loc", []))
    if loc[:1] == ["body"] and len(loc) > 1:
        del loc[1]
    if loc[:1] in (["form"], ["file"]):
        loc[0] = "body"
    return {"loc": loc, "msg": error.get("msg", ""), "type": error.get("type", "value_error")}


def field_errors(error: ValidationError) -> list[dict[str, Any]]:
    """Django's errors, field by field."""
    fields = error.message_dict if hasattr(error, "error_dict") else {"__all__": error.messages}
    return [
        {"loc": ["body", field], "msg": words, "type": "value_error"}
        for field, messages in fields.items()
        for words in messages
    ]


def handle(api: NinjaAPI) -> None:
    """Let the API answer every exception in this shape."""

    def respond(request: HttpRequest, error: Exception | type[Exception]) -> HttpResponse:
        return answer(refused(error if isinstance(error, Exception) else error()))

    for kind in (Exception, InvalidInput, AuthenticationError, NinjaError, Http404):
        api.add_exception_handler(kind, respond)
