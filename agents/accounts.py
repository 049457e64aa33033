"""People: accounts with a log-in, or the one owner of a server that only this machine reaches."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.http import HttpRequest

OWNER = "owner"


def owner() -> User:
    """The one person of a server without accounts."""
    try:
        return User.objects.get(username=OWNER)
    except User.DoesNotExist:
        made, _ = User.objects.get_or_create(
            username=OWNER, defaults={"is_staff": True, "is_superuser": True}
        )
        return made


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Sign-up: the first account becomes the administrator and takes over the owner's agents."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return settings.ACCOUNTS and (settings.SIGNUP_OPEN or not people().exists())

    @transaction.atomic
    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> User:
        one_at_a_time()
        first = not people().exists()
        user.is_staff = user.is_superuser = first
        saved: User = super().save_user(request, user, form, commit=commit)
        if first and commit:
            take_over(saved)
        return saved

    def clean_username(self, username: str, shallow: bool = False) -> str:
        if username.lower() == OWNER:
            raise self.validation_error("username_taken")
        cleaned: str = super().clean_username(username, shallow=shallow)
        return cleaned


def one_at_a_time() -> None:
    """Of two people who sign up at the same moment, one is first; SQLite takes turns anyway."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("LOCK TABLE auth_user IN SHARE ROW EXCLUSIVE MODE")


def people() -> Any:
    """Everyone with an account."""
    return User.objects.exclude(username=OWNER)


def take_over(user: User) -> None:
    """Give a person what the one owner had before there were accounts."""
    from .models import Agent, Block, Token, Tool

    for kind in (Agent, Block, Token, Tool):
        kind._default_manager.filter(owner__username=OWNER).update(owner=user)
