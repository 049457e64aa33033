"""The forms of passkeys, which say in every language what they ask for."""

from __future__ import annotations

from typing import Any

from allauth.mfa.webauthn.forms import AddWebAuthnForm, EditWebAuthnForm
from django.utils.translation import gettext as _


class AddPasskeyForm(AddWebAuthnForm):  # type: ignore[misc]
    """allauth's, whose field for the name has no label of its own. A key lets one in without a
    password, unless that is unselected: else it would be no passkey."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].label = _("Name")
        self.fields["passwordless"].initial = True


class EditPasskeyForm(EditWebAuthnForm):  # type: ignore[misc]
    """The same for another name."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].label = _("Name")
