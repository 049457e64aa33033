"""Accounts, and what ends a log-in."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import SESSION_KEY, get_user
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db import connection, transaction
from django.http import HttpRequest

from agents.live import publisher
from agents.models import Agent, Block, Token, Tool
from agents.models.people import user_named

from .names import OWNER


def owner() -> User:
    """The one person of a server without accounts."""
    if user := user_named(OWNER):
        return user
    administrator = {"is_staff": True, "is_superuser": True}
    return User.objects.get_or_create(username=OWNER, defaults=administrator)[0]


def people() -> Any:
    """Everyone with an account."""
    return User.objects.exclude(username=OWNER)


def user_of_session(session_key: str | None) -> User | None:
    """The person of a browser's session, as both are now."""
    request = HttpRequest()
    request.session = SessionStore(session_key)
    user = get_user(request)
    return user if isinstance(user, User) else None


def save_new(account: User, *, administrator: bool) -> None:
    """Store a new account. The first administrator takes over what the one owner had before there
    were accounts. In a transaction that holds `one_at_a_time`.
    """
    first = administrator and not people().filter(is_superuser=True).exists()
    account.is_staff = account.is_superuser = administrator
    account.save()
    if first:
        for kind in (Agent, Block, Token, Tool):
            kind._default_manager.filter(owner__username=OWNER).update(owner=account)


def make_administrator(account: User) -> None:
    """Store a new account that may do everything."""
    with transaction.atomic():
        one_at_a_time()
        save_new(account, administrator=True)


def one_at_a_time() -> None:
    """Lock the accounts until commit, so that only one sign-up is the first."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("LOCK TABLE auth_user IN SHARE ROW EXCLUSIVE MODE")


# -- what ends a log-in ----------------------------------------------------------------------------


def person_changed(instance: User, **signal: Any) -> None:
    """Let the person's sockets check their login; delete the tokens of a disabled account."""
    if not instance.is_active:
        Token.objects.of(instance).delete()
    transaction.on_commit(lambda: publisher.publish_login(instance.pk), robust=True)


def session_ended(instance: Session, **signal: Any) -> None:
    """Let the sockets of a session that has ended check their login."""
    if user_id := instance.get_decoded().get(SESSION_KEY):
        transaction.on_commit(lambda: publisher.publish_login(int(user_id)), robust=True)
