"""What allauth asks: who may make an account, which names there may be, where mail goes."""

from __future__ import annotations

import logging
from smtplib import SMTPException
from typing import Any
from urllib.parse import urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from .entry import Entry
from .names import checked_name
from .people import one_at_a_time, people, save_new

logger = logging.getLogger(__name__)
OPTIONAL = gettext_noop("Email (optional)")  # a label of allauth's, with our word for "optional"
CONFIRMATION_SENT = "account/messages/email_confirmation_sent.txt"


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Sign-up for whoever may. On one's own server the first account is the administrator's."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        if not settings.ACCOUNTS:
            return False
        if entry := entry_in(request):
            return entry.is_open()
        return settings.SIGNUP == "open" or (
            settings.FIRST_IS_ADMINISTRATOR and not people().exists()
        )

    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> User:
        """Create the account, if sign-up is still open; only one request at a time does this."""
        account: User = super().save_user(request, user, form, commit=False)  # sets the password
        if not commit:
            return account
        entry = entry_in(request)
        with transaction.atomic():
            one_at_a_time()
            if not self.is_open_for_signup(request):
                raise closed(request)
            save_new(
                account,
                administrator=entry.makes_administrator
                if entry
                else settings.FIRST_IS_ADMINISTRATOR and not people().exists(),
            )
            if entry and not entry.accept(account):
                raise closed(request)
        return account

    def clean_username(self, username: str, shallow: bool = False) -> str:
        cleaned: str = super().clean_username(checked_name(username), shallow=shallow)
        return cleaned

    # -- mail --------------------------------------------------------------------------------------

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send it, where mail is set up; where that fails, say so in the page."""
        if not settings.MAIL:
            return
        try:
            super().send_mail(template_prefix, email, context)
        except (OSError, SMTPException) as error:
            logger.error("A mail could not be sent: %s", type(error).__name__)
            words = _("The mail could not be sent. Try again later, or ask the administrator.")
            messages.error(self.request, words)

    def add_message(
        self,
        request: HttpRequest,
        level: int,
        message_template: str | None = None,
        *args: Any,
        **named: Any,
    ) -> None:
        """Tell the person; that a mail was sent only where one was."""
        if message_template == CONFIRMATION_SENT and not settings.MAIL:
            words = _(
                "The address is noted. This server cannot send mail, so it stays unconfirmed."
            )
            messages.warning(request, words)
        else:
            super().add_message(request, level, message_template, *args, **named)

    def get_reset_password_from_key_url(self, key: str) -> str:
        return of_site(super().get_reset_password_from_key_url(key))

    def get_email_confirmation_url(self, request: HttpRequest, emailconfirmation: Any) -> str:
        return of_site(super().get_email_confirmation_url(request, emailconfirmation))


def entry_in(request: HttpRequest) -> Entry | None:
    """The link that this request came by (`agents/pages/sign_up.py`)."""
    return getattr(request, "entry", None)


def closed(request: HttpRequest) -> ImmediateHttpResponse:
    return ImmediateHttpResponse(render(request, "account/signup_closed.html"))


def of_site(url: str) -> str:
    """An address at the site's own name, whatever name the request used."""
    if not settings.SITE_URL:
        return url
    parts = urlsplit(url)
    query = f"?{parts.query}" if parts.query else ""
    return f"{settings.SITE_URL}{parts.path}{query}"
