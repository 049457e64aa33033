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
from django.utils.translation import gettext, gettext_noop, ngettext
from django.utils.translation import gettext_lazy as _

from agents.models import Invitation
from agents.text.numbers import whole

from .shared import InvitationsAdmin

CLOSED = _(
    "Nobody can be invited, as MEMORYWEB_SIGNUP is closed. Set it to invitation, or add people"
    " under Users."
)
REVOKED = gettext_noop("Revoked.")


@admin.register(Invitation)
class InvitationAdmin(InvitationsAdmin):
    """An administrator makes and revokes them; the link is shown once."""

    list_display = ["email", "role", "state", "made_by", "created_at", "expires_at"]
    list_select_related = ["made_by", "used_by"]
    fields = ["email", "role"]
    actions = ["revoke"]
    audited_itself = True

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
        words = gettext(
            "The link, which is shown only now: {link}. It is good for one account within a week."
        )
        messages.warning(request, format_html(words, link=format_html("<code>{}</code>", link)))
        if obj.email and settings.MAIL:
            self.send(request, obj, link)

    def send(self, request: HttpRequest, invitation: Invitation, link: str) -> None:
        """Send the link by mail; where that fails, say so."""
        text = render_to_string(
            "account/email/invitation.txt", {"link": link, "invitation": invitation}
        )
        try:
            send_mail(gettext("You are invited to memoryweb"), text, None, [invitation.email])
        except OSError:  # as SMTP's errors are, too
            words = gettext("The mail to %(email)s could not be sent; send the link yourself.")
            messages.error(request, words % {"email": invitation.email})
        else:
            words = gettext("The link was sent to %(email)s.")
            messages.info(request, words % {"email": invitation.email})

    @admin.action(description=_("Revoke"), permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[Invitation]) -> None:
        ended = queryset.revoke()  # type: ignore[attr-defined]
        for invitation in ended:
            self.log_change(request, invitation, REVOKED)
        words = ngettext("%(count)s revoked.", "%(count)s revoked.", len(ended))
        self.message_user(request, words % {"count": whole(len(ended))})

    @admin.display(description=_("state"))
    def state(self, invitation: Invitation) -> str:
        return invitation.state
