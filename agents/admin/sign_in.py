"""How people log in, in the admin: looked at, and taken away, but not made."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailConfirmation
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from .shared import RowsAdmin

for each in (Authenticator, EmailConfirmation, SocialAccount, SocialApp, SocialToken, UserSession):
    if admin.site.is_registered(each):
        admin.site.unregister(each)


class OnlyDeleted(RowsAdmin):
    """By administrators alone: who takes away a second factor opens an account."""

    show_full_result_count = False
    search_fields = ["user__username", "user__email"]
    list_select_related = ["user"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return bool(request.user.is_active and request.user.is_superuser)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.has_view_permission(request)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)


@admin.register(Authenticator)
class AuthenticatorAdmin(OnlyDeleted):
    """Second factors and passkeys, for somebody who has lost theirs."""

    list_display = ["user", "type", "created_at", "last_used_at"]
    list_filter = ["type"]
    fields = ["user", "type", "created_at", "last_used_at"]  # not the secrets


@admin.register(SocialAccount)
class AccountElsewhereAdmin(OnlyDeleted):
    """Accounts elsewhere by which people log in."""

    list_display = ["user", "provider", "uid", "last_login", "date_joined"]
    list_filter = ["provider"]
    fields = ["user", "provider", "uid", "last_login", "date_joined"]


@admin.register(UserSession)
class SessionAdmin(OnlyDeleted):
    """Where people are logged in; deleting one logs the person out there."""

    list_display = ["user", "ip", "user_agent", "created_at"]
    fields = ["user", "ip", "user_agent", "created_at"]

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        obj.end()

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for session in queryset:
            session.end()
