"""The log-in that a socket came with, which may end before the socket does."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, cast

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from agents.asyncio_bridge import in_thread
from agents.models.lease import database_time
from agents.models.limits import check_requests

from . import publisher

logger = logging.getLogger(__name__)
LOOK_SECONDS = 3.0  # how often it is looked at, with news or without

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

    async def admit(self) -> None:
        """Check one command's log-in, and count the command. LoginEnded, or LimitReached."""
        if settings.ACCOUNTS:
            await in_thread(self._admit)

    def _admit(self) -> None:
        self.check()
        check_requests(self.user.pk)

    def check(self) -> None:
        """Look at the session and the person's row; LoginEnded unless both are still valid.

        By one statement, as every open page asks every few seconds. A session keeps its key for as
        long as it is one person's, and is good for the password it was checked with at first.
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
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self.news.wait()
            self.news.clear()
            try:
                if settings.ACCOUNTS:
                    await in_thread(self.check)
            except LoginEnded:
                return
            except Exception:  # such as a database that is away; commands fail until it is back
                logger.warning("Whether a log-in has ended could not be checked.", exc_info=True)

    def look_now(self, events: Sequence[publisher.Published]) -> None:
        """The log-in may have ended."""
        self.news.set()
