"""The API's door: who is asking, from where, and what they may do.

A script shows a token, `Authorization: Bearer mw_…`. A browser's session counts as well, with the
CSRF token where something changes. On a server without accounts whoever comes from this machine is
its owner, but for pages from elsewhere in their browser.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware
from ninja.security.base import AuthBase

from agents.accounts import OWNER, owner, user_of_session
from agents.models import Token
from agents.models.limits import check_requests
from agents.models.prepared_sql import read
from agents.models.token import PREFIX
from memoryweb.middleware import same_origin, way_of, wrong_way

from .errors import Refused

SAFE = ("GET", "HEAD", "OPTIONS")


class Door(AuthBase):
    """Lets in who may do what `scope` names, and gives the person."""

    openapi_type = "http"
    openapi_scheme = "bearer"

    def __init__(self, scope: str, *, takes_file: bool = False) -> None:
        self.scope, self.takes_file = scope, takes_file
        super().__init__()

    def __call__(self, request: HttpRequest) -> User:
        check_origin(request)
        check_form(request) if self.takes_file else check_json(request)
        if not settings.ACCOUNTS:
            check_machine(request)
        token = token_of(request)
        user = owner_of(request, token, self.scope) if token else person(request)
        check_requests(user.pk)
        return user


READ, CHAT, WRITE, TOOLS = (Door(scope) for scope in ("read", "chat", "write", "tools"))
WRITE_FILE = Door("write", takes_file=True)


def also(request: HttpRequest, scope: str) -> None:
    """403 where who was let in may not do this as well."""
    if token := token_of(request):
        check_scope(token, scope)


def owner_of(request: HttpRequest, token: Token, scope: str) -> User:
    """Who shows a token that may do what `scope` names."""
    check_scope(token, scope)
    note(request, token)
    if not token.owner.is_active:
        raise Refused(401, "The account of this token is closed.")
    return token.owner


def check_scope(token: Token, scope: str) -> None:
    """403 for a token without the scope."""
    if scope not in token.scopes:
        raise Refused(
            403,
            f"The token '{token.name}' may not do this: it lacks the scope '{scope}'."
            f" It has: {', '.join(token.scopes)}.",
        )


def check_origin(request: HttpRequest) -> None:
    """403 for a page from elsewhere, whatever it shows."""
    origin = request.headers.get("Origin")
    if origin is not None and not same_origin(origin, request.get_host()):
        raise Refused(403, "A page from elsewhere may not use this server.")


def check_json(request: HttpRequest) -> None:
    """415 for a body that is not said to be JSON: a form on a page from elsewhere cannot say so."""
    kind = (request.content_type or "").lower()
    if request.method in SAFE or not request.body:
        return
    if kind != "application/json" and not (kind.startswith("application/") and "+json" in kind):
        raise Refused(415, "The body must be JSON: Content-Type: application/json.")


def check_form(request: HttpRequest) -> None:
    """415 for a body that is no form with a file. Pages from elsewhere, which could send one, name
    their origin with it."""
    if request.content_type != "multipart/form-data":
        raise Refused(415, "The file must come as a form: Content-Type: multipart/form-data.")


def check_machine(request: HttpRequest) -> None:
    """403 for what did not come from this machine, where there are no accounts."""
    if words := wrong_way(*way_of(request)):
        raise Refused(403, words)


def token_of(request: HttpRequest) -> Token | None:
    """The token shown; None where there is none. 401 where it is not, or no longer, valid.

    Without accounts a token of another kind does not matter: none is needed.
    """
    kind, _, secret = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer" or not secret:
        return None
    secret = secret.strip()
    if token := Token.find(secret):
        return token
    if settings.ACCOUNTS or secret.startswith(PREFIX):
        raise Refused(401, "This token is not valid, or was revoked; make another one.")
    return None


def note(request: HttpRequest, token: Token) -> None:
    """Have the token's use kept, at most once a minute, once the answer is sent."""
    if not token.is_due():
        return
    after = getattr(request, "after_response", None)
    if after is None:  # not by `asgi.py`
        token.note_use()
    else:
        after.append(token.note_use)


def person(request: HttpRequest) -> User:
    """Who is asking without a token: the browser's session, or the owner of this machine."""
    cookies = {settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME}
    if cookies & request.COOKIES.keys() and request.method not in SAFE:
        check_csrf(request)
    if not settings.ACCOUNTS:
        found = read(User, "WHERE username = %s", OWNER)
        return found[0] if found else owner()
    user = user_of_session(request.COOKIES.get(settings.SESSION_COOKIE_NAME))
    if user is None:
        raise Refused(401, "A token is needed: Authorization: Bearer <token>.")
    return user


def check_csrf(request: HttpRequest) -> None:
    """403 where a browser's cookies came without this server's token."""

    def view(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return HttpResponse()

    middleware = CsrfViewMiddleware(view)
    middleware.process_request(request)
    if middleware.process_view(request, view, (), {}) is not None:
        raise Refused(403, "A browser's cookies came without the CSRF token; use a token instead.")
