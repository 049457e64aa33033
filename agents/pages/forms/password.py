"""A new password, by any of the ways to one: each offers to revoke the person's API tokens too."""

from __future__ import annotations

from typing import Any

from allauth.account import forms as allauth_forms
from django import forms
from django.contrib.auth.forms import AdminPasswordChangeForm
from django.utils.translation import gettext_lazy as _

from agents.models import Token


class RevokingTokens(forms.Form):
    """A form that sets the password of `self.user`, and revokes their tokens if it is so wished."""

    revoke_tokens = forms.BooleanField(
        required=False,
        label=_("Revoke the API tokens as well"),
        help_text=_("Scripts that use them stop working until they are given new ones."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        user = self.user  # type: ignore[attr-defined]  # None where a link from a mail is no good
        self.tokens = Token.objects.of(user) if user else Token.objects.none()
        if not self.tokens.exists():
            del self.fields["revoke_tokens"]

    def save(self, *args: Any, **kwargs: Any) -> Any:
        saved = super().save(*args, **kwargs)  # type: ignore[misc]
        if self.cleaned_data.get("revoke_tokens"):
            self.tokens.delete()
        return saved


class ChangePasswordForm(RevokingTokens, allauth_forms.ChangePasswordForm):  # type: ignore[misc]
    """For whoever knows the old one."""


class SetPasswordForm(RevokingTokens, allauth_forms.SetPasswordForm):  # type: ignore[misc]
    """For whoever has none yet."""


class ResetPasswordForm(RevokingTokens, allauth_forms.ResetPasswordKeyForm):  # type: ignore[misc]
    """For whoever forgot it, and got a link by mail."""


class PasswordByOperatorForm(RevokingTokens, AdminPasswordChangeForm):
    """For somebody else, in the admin."""
