"""People who log in by an account elsewhere: OpenID Connect and social logins."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import get_adapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest
from django.shortcuts import render

from .people import one_at_a_time, save_new


class ElsewhereAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """An account elsewhere lets in who connected it; whom `SIGNUP_BY` names may also sign up.

    It never makes an administrator, and never takes over an account that has the same address.
    """

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        return settings.ACCOUNTS and (
            settings.SIGNUP == "open" or provider_of(sociallogin) in settings.SIGNUP_BY
        )

    def save_user(self, request: HttpRequest, sociallogin: Any, form: Any = None) -> User:
        """Create the account and connect the one elsewhere with it."""
        if not self.is_open_for_signup(request, sociallogin):
            raise ImmediateHttpResponse(render(request, "account/signup_closed.html"))
        account: User = sociallogin.user
        account.set_unusable_password()
        if form:
            get_adapter().save_user(request, account, form, commit=False)
        else:
            get_adapter().populate_username(request, account)
        with transaction.atomic():
            one_at_a_time()
            save_new(account, administrator=False)
            sociallogin.save(request)
        return account


def provider_of(sociallogin: Any) -> str:
    """The name of the other side, as the settings have it."""
    return str(sociallogin.account.provider)
