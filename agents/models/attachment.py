"""Attachment: which agent holds which block, under which label, at which place."""

from __future__ import annotations

from django.db import models


class Attachment(models.Model):
    """A block held by an agent, at a place. `label` repeats the block's, to be unique here."""

    agent = models.ForeignKey("Agent", models.CASCADE, related_name="attachments")
    block = models.ForeignKey("Block", models.CASCADE)
    label = models.CharField(max_length=50)
    position = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["agent", "block"], name="block_is_held_once"),
            models.UniqueConstraint(fields=["agent", "label"], name="label_is_unique_in_agent"),
        ]

    def __str__(self) -> str:
        return f"{self.label} of {self.agent}"
