"""The form of a scheduled message."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.safestring import mark_safe
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agents.models.message import LONGEST_MESSAGE, Message
from agents.models.schedule import LONGEST_CRON, Schedule

from .agent import TextAsTyped

EXAMPLES = _(
    "Minute, hour, day of the month, month, day of the week. <code>0 9 * * 1-5</code> is 9:00 from"
    " Monday to Friday, <code>30 18 1 * *</code> is 18:30 on the first of each month,"
    " <code>*/15 * * * *</code> is every 15 minutes."
)


class ScheduleForm(forms.Form):
    """A message, and when it is sent: `at` a time, or again and again by `cron`."""

    message = TextAsTyped(
        label=_("Message"),
        max_length=LONGEST_MESSAGE,
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    at = forms.DateTimeField(
        label=_("Once at"),
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )
    cron = forms.CharField(
        label=_("Or again and again (cron)"),
        required=False,
        max_length=LONGEST_CRON,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text=mark_safe(EXAMPLES),
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("at") and cleaned.get("cron"):
            self.add_error("cron", gettext("Give a time or a cron expression, not both."))
        return cleaned

    def create(self, agent: Any) -> Schedule:
        """ValidationError and LimitReached as in `Schedule.create`."""
        given = self.cleaned_data
        messages = [(str(Message.Role.USER), given["message"])]
        return Schedule.create(agent, messages, at=given["at"], cron=given["cron"])
