"""What an endpoint's refusals taught: which form of request it takes, how much it reads at once."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _


class EndpointFacts(models.Model):
    """One model at one endpoint. Deleting the row has it learned anew.

    `dialect` are properties of `agents/llm/dialects.py`; `window` is in tokens; `server_words`
    are the newest words of the endpoint that it was learned from.
    """

    base_url = models.CharField(max_length=500)
    model = models.CharField(max_length=200)
    dialect = models.JSONField(default=dict, blank=True)
    window = models.PositiveIntegerField(null=True, blank=True)
    server_words = models.TextField(blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["base_url", "model"]
        verbose_name_plural = _("endpoint facts")
        constraints = [
            models.UniqueConstraint(fields=["base_url", "model"], name="facts_of_a_model_are_once"),
        ]

    def __str__(self) -> str:
        words = gettext("%(model)s at %(address)s")
        return words % {"model": self.model, "address": self.base_url}
