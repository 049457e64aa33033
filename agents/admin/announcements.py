"""Announcements, in the admin."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from agents.models import Announcement

from .shared import AnnouncementsAdmin, short


@admin.register(Announcement)
class AnnouncementAdmin(AnnouncementsAdmin):
    """What everybody who is logged in sees above every page, at once and until it ends."""

    list_display = ["beginning", "level", "state", "starts_at", "ends_at", "made_by"]
    list_filter = ["level"]
    list_select_related = ["made_by"]
    search_fields = ["text"]
    fields = ["text", "level", "starts_at", "ends_at"]

    def save_model(self, request: HttpRequest, obj: Announcement, form: Any, change: bool) -> None:
        if not change:
            assert request.user.is_authenticated
            obj.made_by = request.user
        super().save_model(request, obj, form, change)

    @admin.display(description=_("text"))
    def beginning(self, announcement: Announcement) -> str:
        return short(announcement.text)

    @admin.display(description=_("state"))
    def state(self, announcement: Announcement) -> str:
        return announcement.state
