"""Links by which somebody may make an account where not everybody may."""

from __future__ import annotations

from typing import Protocol

from django.conf import settings
from django.contrib.auth.models import User
from django.core import signing
from django.urls import reverse

from agents.models import Invitation

from .people import people

SALT = "memoryweb.first-administrator"
HOURS = 24  # that the link in the log is good for


class Entry(Protocol):
    """A link that lets one person in."""

    email: str

    @property
    def makes_administrator(self) -> bool: ...

    def is_open(self) -> bool: ...

    def accept(self, account: User) -> bool:
        """Note that this account was made by it; False where it is not open any more."""


class FirstAdministrator:
    """The link that the log has while nobody is there; the first account ends it."""

    email = ""
    makes_administrator = True

    def is_open(self) -> bool:
        return not people().exists()

    def accept(self, account: User) -> bool:
        return not people().exclude(pk=account.pk).exists()


def first_link(base: str) -> str:
    """The link for the first administrator; "" where there is no need of one."""
    if not settings.ACCOUNTS or settings.FIRST_IS_ADMINISTRATOR or people().exists():
        return ""
    return base + reverse("sign_up_first", args=[signing.dumps("first", salt=SALT)])


def entry_of(kind: str, secret: str) -> Entry | None:
    """What a link's secret stands for; None where it is no good, or not any more."""
    if not settings.ACCOUNTS:
        return None
    entry: Entry | None
    if kind == "first":
        entry = FirstAdministrator() if is_signed(secret) else None
    else:
        entry = Invitation.find(secret) if settings.SIGNUP != "closed" else None
    return entry if entry and entry.is_open() else None


def is_signed(secret: str) -> bool:
    try:
        signing.loads(secret, salt=SALT, max_age=HOURS * 3600)
    except signing.BadSignature:
        return False
    return True
