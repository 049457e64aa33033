"""The form of logging in, which says what it asks for."""

from __future__ import annotations

from typing import Any

from allauth.account.forms import LoginForm
from django.utils.translation import gettext as _


class LogInForm(LoginForm):  # type: ignore[misc]
    """allauth's, with labels in whole words."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].label = _("Username or email")
        if "remember" in self.fields:
            self.fields["remember"].label = _("Stay logged in on this device")
