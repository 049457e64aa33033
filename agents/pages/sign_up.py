"""Accounts that are made by a link, and passwords that are forgotten."""

from __future__ import annotations

from typing import Any

from allauth.account import views
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from agents.accounts.entry import entry_of


class SignUpByLink(views.SignupView):  # type: ignore[misc]
    """The sign-up page, for whoever has a link: the first administrator's, or an invitation."""

    kind = "invited"

    def setup(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().setup(request, *args, **kwargs)
        request.entry = self.entry = entry_of(self.kind, kwargs["secret"])  # type: ignore[attr-defined]

    def is_open(self) -> bool:
        return self.entry is not None

    def closed(self) -> HttpResponse:
        return render(self.request, "account/link_gone.html", {"kind": self.kind}, status=410)

    def get_initial(self) -> dict[str, Any]:
        initial: dict[str, Any] = super().get_initial()
        return initial | ({"email": self.entry.email} if self.entry else {})

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return context | {"entry": self.entry, "kind": self.kind}


def reset_password(request: HttpRequest) -> HttpResponseBase:
    """By mail; where none is set up, whom to ask."""
    if not settings.MAIL:
        return render(request, "account/no_mail.html")
    answer: HttpResponseBase = views.password_reset(request)
    return answer
