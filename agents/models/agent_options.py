"""What an agent's model is asked for and what it is shown, beyond prompt, memory and tools."""

from __future__ import annotations

from functools import cache
from zoneinfo import available_timezones

from django.core.exceptions import ValidationError
from django.db import models

from .model_settings import check_model_settings


def check_zone(name: str) -> None:
    """ValidationError where there is no such time zone."""
    if name not in zones():
        raise ValidationError(f"There is no time zone '{name[:50]}'; one is 'Europe/Riga'.")


@cache
def zones() -> set[str]:
    """The time zones there are, by their IANA names."""
    return available_timezones()


class AgentOptions(models.Model):
    """Fields of an agent."""

    model_settings = models.JSONField(
        default=dict,
        blank=True,
        validators=[check_model_settings],
        help_text="How the model is asked. What is left empty is the endpoint's own.",
    )
    secrets = models.JSONField(
        default=dict, editable=False, help_text="Encrypted, by name; see secrets.py."
    )
    timezone = models.CharField(
        "time zone",
        max_length=64,
        default="UTC",
        validators=[check_zone],
        help_text="In which its searches read and show dates, such as Europe/Riga.",
    )
    message_buffer_autoclear = models.BooleanField(
        "forgets each message",
        default=False,
        help_text="Once a message is answered it leaves the context; it can still be searched.",
    )

    class Meta:
        abstract = True
