"""Invitations, in the admin."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.core.mail import send_mail
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html

from agents.models import Invitation

from .shared import InvitationsAdmin

CLOSED = (
    "Nobody can be invited, as MEMORYWEB_SIGNUP is closed. Set it to invitation, or add people"
    " under Users."
)


@admin.register(Invitation)
class InvitationAdmin(InvitationsAdmin):
    """An administrator makes and revokes them; the link is shown once."""

    list_display = ["email", "role", "state", "made_by", "created_at", "expires_at"]
    list_select_related = ["made_by", "used_by"]
    fields = ["email", "role"]
    actions = ["revoke"]

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Invitation | None = None) -> bool:
        """An invitation can make an administrator, so only administrators have them."""
        return settings.ACCOUNTS and bool(request.user.is_active and request.user.is_superuser)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return settings.SIGNUP != "closed" and self.has_view_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Invitation | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Invitation | None = None) -> bool:
        return False

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        if settings.SIGNUP == "closed":
            messages.info(request, CLOSED)
        return super().changelist_view(request, extra_context)

    def save_model(self, request: HttpRequest, obj: Invitation, form: Any, change: bool) -> None:
        assert request.user.is_authenticated
        path = reverse("sign_up_invited", args=[obj.issue(request.user)])
        link = (settings.SITE_URL or request.build_absolute_uri("/").rstrip("/")) + path
        words = "The link, which is shown only now: {}. It is good for one account within a week."
        messages.warning(request, format_html(words, format_html("<code>{}</code>", link)))
        if obj.email and settings.MAIL:
            self.send(request, obj, link)

    def send(self, request: HttpRequest, invitation: Invitation, link: str) -> None:
        """Send the link by mail; where that fails, say so."""
        text = render_to_string(
            "account/email/invitation.txt", {"link": link, "invitation": invitation}
        )
        try:
            send_mail("You are invited to memoryweb", text, None, [invitation.email])
        except OSError:  # as SMTP's errors are, too
            words = f"The mail to {invitation.email} could not be sent; send the link yourself."
            messages.error(request, words)
        else:
            messages.info(request, f"The link was sent to {invitation.email}.")

    @admin.action(description="Revoke", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[Invitation]) -> None:
        chosen = list(queryset.open())  # type: ignore[attr-defined]
        count = Invitation.objects.filter(pk__in=[each.pk for each in chosen]).revoke()
        for invitation in chosen:
            self.log_change(request, invitation, "Revoked.")
        self.message_user(request, f"{count} revoked.")

    @admin.display(description="state")
    def state(self, invitation: Invitation) -> str:
        return invitation.state
