"""Who sends a request, from where, and what they may do.

A script sends a token, `Authorization: Bearer mw_…`. A browser's session is accepted as well, with
the CSRF token for requests that change something. On a server without accounts every request from
this machine is the owner's, except those of other sites' pages.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware
from ninja.security.base import AuthBase

from agents.accounts import owner, user_of_session
from agents.models import Token
from agents.models.limits import check_requests
from agents.models.token import PREFIX
from memoryweb.middleware import connection_of, refusal_reason, same_origin

from .errors import Refused

SAFE = ("GET", "HEAD", "OPTIONS")


class Auth(AuthBase):
    """Lets in who has the `scope`; the person becomes `request.auth`."""

    openapi_type = "http"
    openapi_scheme = "bearer"

    def __init__(self, scope: str, *, takes_file: bool = False) -> None:
        self.scope, self.takes_file = scope, takes_file
        super().__init__()

    def __call__(self, request: HttpRequest) -> User:
        request.needed_scope = self.scope  # type: ignore[attr-defined]
        check_origin(request)
        check_form(request) if self.takes_file else check_json(request)
        if not settings.ACCOUNTS:
            check_machine(request)
        token = token_of(request)
        user = owner_of(request, token, self.scope) if token else person(request)
        check_requests(user.pk)
        return user


READ, CHAT, WRITE, TOOLS = (Auth(scope) for scope in ("read", "chat", "write", "tools"))
WRITE_FILE = Auth("write", takes_file=True)


def require(request: HttpRequest, scope: str) -> None:
    """403 if the token of a request that was let in lacks another scope."""
    if token := token_of(request):
        check_scope(token, scope)


def owner_of(request: HttpRequest, token: Token, scope: str) -> User:
    """The owner of a token, if it has the scope."""
    check_scope(token, scope)
    record_use(request, token)
    if not token.owner.is_active:
        raise Refused(401, "The account of this token is closed; ask the administrator.")
    return token.owner


def check_scope(token: Token, scope: str) -> None:
    """403 for a token without the scope."""
    if scope not in token.scopes:
        raise Refused(
            403,
            f"The token '{token.name}' may not do this: it lacks the scope '{scope}'."
            f" It has: {', '.join(token.scopes)}. Create another token at /tokens/.",
        )


def check_origin(request: HttpRequest) -> None:
    """403 for a page of another site, whatever its credentials."""
    origin = request.headers.get("Origin")
    if origin is not None and not same_origin(origin, request.get_host()):
        raise Refused(403, "Pages of other sites may not use this server.")


def check_json(request: HttpRequest) -> None:
    """415 for a body that is not declared as JSON, which a form on another site cannot do."""
    kind = (request.content_type or "").lower()
    if request.method in SAFE or not request.body:
        return
    if kind != "application/json" and not (kind.startswith("application/") and "+json" in kind):
        raise Refused(415, "The body must be JSON; send the header Content-Type: application/json.")


def check_form(request: HttpRequest) -> None:
    """415 for a body that is not a form with a file.

    Pages of other sites could send one, but their requests carry an Origin, which is refused.
    """
    if request.content_type != "multipart/form-data":
        raise Refused(415, "The file must be sent in a form: Content-Type: multipart/form-data.")


def check_machine(request: HttpRequest) -> None:
    """403 for requests from other machines, on a server without accounts."""
    if words := refusal_reason(*connection_of(request)):
        raise Refused(403, words)


def token_of(request: HttpRequest) -> Token | None:
    """The request's token, or None; 401 if it is not valid.

    Without accounts no token is needed, so tokens of other programs are ignored.
    """
    kind, _, secret = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer" or not secret:
        return None
    secret = secret.strip()
    if token := Token.find(secret):
        return token
    if settings.ACCOUNTS or secret.startswith(PREFIX):
        raise Refused(401, "This token is not valid, or was revoked; create another at /tokens/.")
    return None


def record_use(request: HttpRequest, token: Token) -> None:
    """Store that the token was used, at most once a minute, after the answer is sent."""
    if not token.is_due():
        return
    after = getattr(request, "after_response", None)
    if after is None:  # the request did not come through `asgi.py`
        token.note_use()
    else:
        after.append(token.note_use)


def person(request: HttpRequest) -> User:
    """Who asks without a token: the person of the session, or the owner of this machine."""
    cookies = {settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME}
    if cookies & request.COOKIES.keys() and request.method not in SAFE:
        check_csrf(request)
    if not settings.ACCOUNTS:
        return owner()
    user = user_of_session(request.COOKIES.get(settings.SESSION_COOKIE_NAME))
    if user is None:
        raise Refused(401, "A token is needed: Authorization: Bearer <token>.")
    return user


def check_csrf(request: HttpRequest) -> None:
    """403 where a browser's cookies came without the CSRF token."""

    def view(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return HttpResponse()

    middleware = CsrfViewMiddleware(view)
    middleware.process_request(request)
    if middleware.process_view(request, view, (), {}) is not None:
        raise Refused(403, "The CSRF token is missing; use a token from /tokens/ instead.")
