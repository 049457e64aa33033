"""A request as views see it: of somebody who is logged in."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails


class Request(HttpRequest):
    """What Django and django-htmx put on a request, for the type checker."""

    user: User  # login_required lets nobody else in
    htmx: HtmxDetails
