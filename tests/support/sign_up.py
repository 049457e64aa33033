"""Signing up, as anybody would."""

from __future__ import annotations

from typing import Any

from django.test import Client
from django.urls import reverse

from tests.support.visitor import PASSWORD


def sign_up(username: str, **more: str) -> tuple[Client, Any]:
    """Through the page."""
    client = Client(enforce_csrf_checks=True)
    page = client.get(reverse("account_signup"))
    form = {
        "username": username,
        "email": "",
        "password1": PASSWORD,
        "password2": PASSWORD,
        "csrfmiddlewaretoken": str(page.context["csrf_token"]),
        **more,
    }
    return client, client.post(reverse("account_signup"), form)
