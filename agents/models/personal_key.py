"""Personal key: a person's own key for an endpoint, where the endpoint allows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils.translation import gettext

from .audit import AuditEntry
from .encryption import ENDPOINT_KEYS, encrypted_key
from .model_endpoint import ModelEndpoint

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class PersonalKeyQuerySet(models.QuerySet["PersonalKey"]):
    def of(self, user: User | int) -> Self:
        """A person's keys that may be used at present."""
        return self.filter(user=user).exclude(endpoint__own_keys=ModelEndpoint.OwnKeys.NO)


class PersonalKey(models.Model):
    """A person's own key for an endpoint, used for the calls of their agents."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="personal_keys")
    endpoint = models.ForeignKey(ModelEndpoint, models.CASCADE, related_name="personal_keys")
    api_key = models.TextField(editable=False)  # encrypted
    updated_at = models.DateTimeField(auto_now=True)

    objects = PersonalKeyQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "endpoint"], name="person_has_one_key_each"),
        ]

    def __str__(self) -> str:
        return f"{self.user}'s key for {self.endpoint}"

    @classmethod
    @transaction.atomic
    def put(cls, user: User, endpoint: ModelEndpoint, key: str) -> PersonalKey:
        """Store a person's key, or replace it; ValidationError where it cannot be one."""
        if not key.strip():
            raise ValidationError(gettext("Enter the key."))
        token = encrypted_key(key)
        stored, _ = cls.objects.update_or_create(
            user=user, endpoint=endpoint, defaults={"api_key": token}
        )
        AuditEntry.record(AuditEntry.Action.OWN_KEY_PUT, stored, person=user)
        return stored

    def key(self) -> str | None:
        """The key; None where it cannot be read."""
        return ENDPOINT_KEYS.decrypt(self.api_key)
