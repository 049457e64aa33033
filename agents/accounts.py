"""People: accounts with a log-in, or the one owner of a server that only this machine reaches."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from django.conf import settings
from django.contrib.auth import SESSION_KEY, get_user
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.http import HttpRequest
from django.shortcuts import render

from agents.live import publisher
from agents.models import Agent, Block, Token, Tool
from agents.models.people import user_named

OWNER = "owner"
INVISIBLE = re.compile("[\u115f\u1160]")  # Hangul fillers, which count as letters
WRITTEN_TOGETHER = (  # Japanese, Korean, Chinese with its phonetic letters
    {"CJK", "HIRAGANA", "KATAKANA"},
    {"CJK", "HANGUL"},
    {"CJK", "BOPOMOFO"},
)


def owner() -> User:
    """The one person of a server without accounts."""
    if user := user_named(OWNER):
        return user
    administrator = {"is_staff": True, "is_superuser": True}
    return User.objects.get_or_create(username=OWNER, defaults=administrator)[0]


def user_of_session(session_key: str | None) -> User | None:
    """The person of a browser's session, as both are now."""
    request = HttpRequest()
    request.session = SessionStore(session_key)
    user = get_user(request)
    return user if isinstance(user, User) else None


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Sign-up: the first account becomes the administrator and takes over the owner's agents."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return settings.ACCOUNTS and (settings.SIGNUP_OPEN or not people().exists())

    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> User:
        """Create the account, if sign-up is still open; only one request at a time does this."""
        account: User = super().save_user(request, user, form, commit=False)  # sets the password
        if not commit:
            return account
        with transaction.atomic():
            one_at_a_time()
            if not self.is_open_for_signup(request):
                raise ImmediateHttpResponse(render(request, "account/signup_closed.html"))
            first = not people().exists()
            account.is_staff = account.is_superuser = first
            account.save()
            if first:
                take_over(account)
        return account

    def clean_username(self, username: str, shallow: bool = False) -> str:
        cleaned: str = super().clean_username(checked_name(username), shallow=shallow)
        return cleaned


def checked_name(name: str) -> str:
    """A user name in its normal form; ValidationError if it could look like another person's."""
    name = unicodedata.normalize("NFKC", name)
    if name.lower() == OWNER:
        raise ValidationError("This name is taken; choose another one.")
    if "@" in name:
        raise ValidationError("A user name has no '@': it would look like an email address.")
    if INVISIBLE.search(name):
        raise ValidationError("This user name contains an invisible letter; leave it out.")
    scripts = {script_of(letter) for letter in name if letter.isalpha() or not letter.isascii()}
    scripts -= {"MODIFIER"}
    if len(scripts) > 1 and not any(scripts <= together for together in WRITTEN_TOGETHER):
        mixed = " and ".join(script.capitalize() for script in sorted(scripts))
        raise ValidationError(
            f"This user name mixes letters of several scripts ({mixed}), so it could look like"
            " another person's; use only one script."
        )
    return name


def script_of(letter: str) -> str:
    """The script of a letter or digit, by its name in Unicode: GREEK SMALL LETTER ALPHA."""
    script = re.split("[ -]", unicodedata.name(letter, "?"))[0]
    return "CJK" if script == "IDEOGRAPHIC" else script


def one_at_a_time() -> None:
    """Lock the accounts until commit, so that only one sign-up is the first."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("LOCK TABLE auth_user IN SHARE ROW EXCLUSIVE MODE")


def people() -> Any:
    """Everyone with an account."""
    return User.objects.exclude(username=OWNER)


def take_over(user: User) -> None:
    """Give a person what the owner had before there were accounts."""
    for kind in (Agent, Block, Token, Tool):
        kind._default_manager.filter(owner__username=OWNER).update(owner=user)


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
