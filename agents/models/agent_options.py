"""What an agent's model is asked for and what it is shown, beyond prompt, memory and tools."""

from __future__ import annotations

from django.db import models

from .model_settings import check_model_settings


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
    message_buffer_autoclear = models.BooleanField(
        "forgets each message",
        default=False,
        help_text="Once a message is answered it leaves the context; it can still be searched.",
    )

    class Meta:
        abstract = True
