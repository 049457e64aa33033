"""The log-in that a socket came with, which may end before the socket does."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextvars import Context
from typing import Any, TypeVar, cast

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import connection
from django.utils import timezone

from agents.asyncio_bridge import in_thread
from agents.models.lease import database_time
from agents.models.limits import check_requests

from . import publisher

T = TypeVar("T")

logger = logging.getLogger(__name__)
LOOK_SECONDS = 3.0  # how often all are looked at, with news or without
AT_ONCE = 500  # log-ins that are asked for by one statement

STILL_VALID = (
    "SELECT 1 FROM django_session s, auth_user u WHERE s.session_key = %s AND s.expire_date > %s"
    " AND u.id = %s AND u.is_active AND u.password = %s"
)


class LoginEnded(Exception):
    """The person logged out, was disabled or deleted, or has another password now."""


class Login:
    """Who a socket is for, and the browser's session that says so."""

    def __init__(self, scope: dict[str, Any]) -> None:
        self.user = cast("User", scope["user"])
        self.session_key: str | None = getattr(scope.get("session"), "session_key", None)
        self.news = asyncio.Event()

    async def carry_out(self, command: Callable[..., T], *args: Any) -> T:
        """Carry out a command in a thread, once its log-in is checked and it is counted.
        LoginEnded, or LimitReached."""
        return await in_thread(self._carry_out, command, args)

    def _carry_out(self, command: Callable[..., T], args: tuple[Any, ...]) -> T:
        if settings.ACCOUNTS:
            self.check()
            check_requests(self.user.pk)
        return command(*args)

    def check(self) -> None:
        """Look at the session and the person's row; LoginEnded unless both are still valid.

        By one statement, as every command asks. A session keeps its key for as long as it is one
        person's, and is good for the password it was checked with at first.
        """
        parameters = [
            self.session_key,
            database_time(timezone.now()),
            self.user.pk,
            self.user.password,
        ]
        with connection.cursor() as cursor:
            cursor.execute(STILL_VALID, parameters)
            if cursor.fetchone() is None:
                raise LoginEnded

    async def watch(self) -> None:
        """Wait until the log-in has ended."""
        _look_at(self)
        try:
            while True:
                await self.news.wait()
                self.news.clear()
                if settings.ACCOUNTS and await self.has_ended():
                    return
        finally:
            _watched.discard(self)

    async def has_ended(self) -> bool:
        try:
            await in_thread(self.check)
        except LoginEnded:
            return True
        except Exception:
            _not_checked()
        return False

    def look_now(self, events: Sequence[publisher.Published]) -> None:
        """The log-in may have ended."""
        self.news.set()


# -- all of this process's -------------------------------------------------------------------------

_watched: set[Login] = set()
_looking: asyncio.Task[None] | None = None


def _look_at(login: Login) -> None:
    """Have a log-in looked at every few seconds, together with all others: one by one they would
    be most of what open pages cost."""
    global _looking
    if _looking is None or _looking.done() or _looking.get_loop() != asyncio.get_running_loop():
        _watched.clear()
        # on behalf of nobody: not of the person whose socket happens to be the first
        _looking = asyncio.create_task(_look_regularly(), context=Context())
    _watched.add(login)


async def _look_regularly() -> None:
    """Tell each log-in that seems to have ended to look by itself."""
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        try:
            for login in await in_thread(ended_of, list(_watched)) if settings.ACCOUNTS else ():
                login.news.set()
        except Exception:
            _not_checked()


def ended_of(logins: Sequence[Login]) -> list[Login]:
    """Those whose session or person is no longer valid, by two statements for many."""
    ended: list[Login] = []
    for start in range(0, len(logins), AT_ONCE):
        batch = logins[start : start + AT_ONCE]
        keys, ids = {each.session_key for each in batch}, {each.user.pk for each in batch}
        valid = Session.objects.filter(session_key__in=keys, expire_date__gt=timezone.now())
        sessions = set(valid.values_list("session_key", flat=True))
        people = User.objects.filter(pk__in=ids, is_active=True)
        passwords = dict(people.values_list("pk", "password"))
        ended += [
            each
            for each in batch
            if each.session_key not in sessions or passwords.get(each.user.pk) != each.user.password
        ]
    return ended


def _not_checked() -> None:
    """A database is away, for one; commands fail until it is back."""
    logger.warning("Whether a log-in has ended could not be checked.", exc_info=True)
