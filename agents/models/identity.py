"""Identity: someone a script knows by a key of its own, and whom its agents and blocks are for."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from django.conf import settings
from django.db import models, transaction
from django.utils.translation import gettext_lazy as _

from .agent import Agent
from .block import Block
from .prepared_sql import keys, values

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


class IdentityQuerySet(models.QuerySet["Identity"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """The identities a person may see: their own."""
        return self.filter(owner_id=user.pk)


class Identity(models.Model):
    """Someone, or something, that a script's agents are for. It gives no access to anything.

    `properties` are `[{"key", "value", "type"}]`, as the script gave them.
    """

    class Kind(models.TextChoices):
        ORG = "org", _("Org")
        USER = "user", _("User")
        OTHER = "other", _("Other")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="identities")
    identifier_key = models.CharField(max_length=200, help_text=_("What the script knows it by."))
    name = models.CharField(max_length=200)
    identity_type = models.CharField(max_length=10, choices=Kind)
    properties = models.JSONField(default=list, blank=True)
    agents = models.ManyToManyField(Agent, blank=True, related_name="identities")
    blocks = models.ManyToManyField(Block, blank=True, related_name="identities")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = IdentityQuerySet.as_manager()

    class Meta:
        verbose_name_plural = _("identities")
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "identifier_key"],
                name="identifier_key_is_unique",
                violation_error_message=_("You already have an identity with this key."),
            ),
        ]
        indexes = [models.Index(fields=["owner", "-created_at"], name="identities_of_owner")]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def of(cls, agents: Sequence[Agent]) -> dict[UUID, list[Identity]]:
        """The identities of agents, by the agent's key, the oldest first."""
        among, pks = keys(agents)
        links = values(
            cls.agents.through, ("agent_id", "identity_id"), f"WHERE agent_id IN {among}", *pks
        )
        held: dict[UUID, list[Identity]] = {agent.pk: [] for agent in agents}
        if links:
            rows = cls.objects.filter(pk__in={pk for _, pk in links})
            for identity in rows.order_by("created_at", "pk"):
                for agent_pk, pk in links:
                    if pk == identity.pk:
                        held[agent_pk].append(identity)
        return held

    @transaction.atomic
    def change(
        self,
        *,
        replace: bool,
        agents: Iterable[Agent] | None = None,
        blocks: Iterable[Block] | None = None,
        properties: list[dict[str, Any]] | None = None,
        **fields: str,
    ) -> None:
        """Change the fields that are not None, and store it.

        With `replace`, agents, blocks and properties replace what there was; else they are added, a
        property in place of the one with its key.
        """
        if properties is not None:
            before = [] if replace else self.properties
            by_key = {each["key"]: each for each in [*before, *properties]}
            self.properties = list(by_key.values())
        for name, value in fields.items():
            setattr(self, name, value)
        self.save()
        if agents is not None:
            self.agents.set(agents) if replace else self.agents.add(*agents)
        if blocks is not None:
            self.blocks.set(blocks) if replace else self.blocks.add(*blocks)
