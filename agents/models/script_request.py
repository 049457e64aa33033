"""What a script may say of a run beyond its message."""

from __future__ import annotations

from django.db import models


class ScriptRequest(models.Model):
    """The request of a script, as its run keeps it."""

    request_sha256 = models.CharField(
        max_length=64, blank=True, editable=False, help_text="Of a script's request that began it."
    )
    most_steps = models.PositiveIntegerField(
        null=True, editable=False, help_text="Its own limit of steps, below the agent's."
    )
    client_tools = models.JSONField(
        default=list,
        editable=False,
        help_text="Tools that the script runs: name, description and parameters of each.",
    )
    request_config = models.JSONField(
        default=dict, editable=False, help_text="How a script wants its messages shown."
    )

    class Meta:
        abstract = True
