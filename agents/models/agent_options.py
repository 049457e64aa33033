"""What an agent's model is asked for and what it is shown, beyond prompt, memory and tools."""

from __future__ import annotations

from functools import cache
from typing import Any
from zoneinfo import available_timezones

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from .model_settings import check_model_settings
from .secrets import WithSecrets


def check_zone(name: str) -> None:
    """ValidationError where there is no such time zone."""
    if name not in zones():
        words = gettext("There is no time zone '%(name)s'; one is 'Europe/Riga'.")
        raise ValidationError(words % {"name": name[:50]})


def check_compaction_settings(settings: Any) -> None:
    """ValidationError, in a sentence, where a setting is unknown or cannot have its value."""
    if not isinstance(settings, dict):
        raise ValidationError(gettext("Compaction settings must be a JSON object."))
    for name, value in settings.items():
        least, most = COMPACTION_BOUNDS.get(name, (0, 0))
        kind = COMPACTION.get(name)
        fits = kind and type(value) in kind and (not most or least <= value <= most)
        if not fits or (isinstance(value, str) and len(value) > LONGEST_PROMPT):
            words = gettext("The compaction setting %(name)s cannot be so.")
            if most:
                words = gettext(
                    "The compaction setting %(name)s cannot be so; it can be %(least)s to %(most)s."
                )
            bounds = {"least": f"{least:,}", "most": f"{most:,}"}
            raise ValidationError(words % {"name": name[:50], **bounds})
    if settings.get("mode", "all") not in MODES:
        words = gettext("The mode of compaction must be one of: %(modes)s.")
        raise ValidationError(words % {"modes": ", ".join(MODES)})


COMPACTION: dict[str, tuple[type, ...]] = {
    "model": (str,),
    "prompt": (str,),
    "mode": (str,),
    "clip_chars": (int,),
    "sliding_window_percentage": (int, float),
}
COMPACTION_BOUNDS = {"clip_chars": (1, 1_000_000), "sliding_window_percentage": (0.05, 0.7)}
MODES = ("all", "sliding_window")
LONGEST_PROMPT = 20_000  # characters


@cache
def zones() -> set[str]:
    """The time zones there are, by their IANA names."""
    return available_timezones()


class AgentOptions(WithSecrets):
    """Fields of an agent."""

    model_settings = models.JSONField(
        default=dict,
        blank=True,
        validators=[check_model_settings],
        help_text=_("How the model is asked. What is left empty is the endpoint's own."),
    )
    compaction_settings = models.JSONField(
        default=dict,
        blank=True,
        validators=[check_compaction_settings],
        help_text=_("How old messages are summarised, as a script chose it."),
    )
    timezone = models.CharField(
        _("time zone"),
        max_length=64,
        default="UTC",
        validators=[check_zone],
        help_text=_("In which its searches read and show dates, such as Europe/Riga."),
    )
    message_buffer_autoclear = models.BooleanField(
        _("forgets each message"),
        default=False,
        help_text=_("Once a message is answered it leaves the context; it can still be searched."),
    )

    hidden = models.BooleanField(
        default=False, help_text=_("Not shown in lists of agents; see Deleted agents.")
    )

    class Meta:
        abstract = True
