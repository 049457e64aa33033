"""Endpoint model: what an administrator says of one model at an endpoint."""

from __future__ import annotations

from decimal import Decimal

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from .model_endpoint import ModelEndpoint


class EndpointModel(models.Model):
    """What an administrator says of a model at an endpoint."""

    endpoint = models.ForeignKey(ModelEndpoint, models.CASCADE, related_name="listed")
    name = models.CharField(max_length=200, help_text=_("As the endpoint calls it."))
    context_window = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1000), MaxValueValidator(10_000_000)],
        help_text=_("Tokens it can read at once. Empty: as the endpoint says, or by its name."),
    )
    prompt_price = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        validators=[MinValueValidator(Decimal(0))],
        help_text=_("US dollars for a million tokens that it reads."),
    )
    completion_price = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        validators=[MinValueValidator(Decimal(0))],
        help_text=_("US dollars for a million tokens that it writes."),
    )

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["endpoint", "name"], name="endpoint_has_a_model_once"),
            models.CheckConstraint(
                condition=models.Q(prompt_price=None, completion_price=None)
                | models.Q(prompt_price__isnull=False, completion_price__isnull=False),
                name="model_has_both_prices_or_none",
                violation_error_message=_("Enter both prices, or none."),
            ),
        ]

    def __str__(self) -> str:
        return self.name
