"""What an agent's model is asked for and what it is shown, beyond prompt, memory and tools."""

from __future__ import annotations

from django.db import models


class AgentOptions(models.Model):
    """Fields of an agent."""

    message_buffer_autoclear = models.BooleanField(
        "forgets each message",
        default=False,
        help_text="Once a message is answered it leaves the context; it can still be searched.",
    )

    class Meta:
        abstract = True
