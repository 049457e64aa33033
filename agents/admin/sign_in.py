"""How people log in, in the admin: looked at, and taken away, but not made."""

from __future__ import annotations

from typing import Any

from allauth.account.admin import EmailAddressAdmin
from allauth.account.models import EmailAddress, EmailConfirmation
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from agents.accounts.audited import end_session

from .audited import Audited
from .shared import RowsAdmin

for each in (
    Authenticator,
    EmailAddress,
    EmailConfirmation,
    SocialAccount,
    SocialApp,
    SocialToken,
    UserSession,
):
    if admin.site.is_registered(each):
        admin.site.unregister(each)

# What the library has no names for in other languages.
NAMES = {
    Authenticator: (_("authenticator"), _("authenticators")),
    UserSession: (_("user session"), _("user sessions")),
}
FIELDS = {
    "user": _("user"),
    "type": _("type"),
    "ip": _("IP"),
    "user_agent": _("user agent"),
    "created_at": _("created at"),
    "last_used_at": _("last used at"),
}
for kind, (name, plural) in NAMES.items():
    kind._meta.verbose_name, kind._meta.verbose_name_plural = name, plural
    for field in kind._meta.local_fields:
        field.verbose_name = FIELDS.get(field.name, field.verbose_name)


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


@admin.register(EmailAddress)
class AuditedEmailAdmin(Audited, EmailAddressAdmin):  # type: ignore[misc]
    """The mail addresses of people."""


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
    audited_itself = True

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        end_session(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for session in queryset:
            end_session(session)
