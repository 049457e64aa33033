"""BlockShare: a block that its owner shares with another person, to read or to write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models, transaction

from .block import Block

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class BlockShare(models.Model):
    """Somebody may attach a block to their agents; they, and these, may write if `can_write`."""

    block = models.ForeignKey(Block, models.CASCADE, related_name="shares")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="shares")
    can_write = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["user__username"]
        constraints = [
            models.UniqueConstraint(fields=["block", "user"], name="block_is_shared_once"),
        ]

    def __str__(self) -> str:
        return f"{self.block} with {self.user}"

    @classmethod
    @transaction.atomic
    def share(cls, block: Block, user: User, *, can_write: bool) -> BlockShare:
        """Share a block, or change how; ValidationError with its owner."""
        if user.pk == block.owner_id:
            raise ValidationError({"user": f"{user.get_username()} owns the block already."})
        block.lock()  # nobody writes meanwhile
        share, _ = cls.objects.update_or_create(
            block=block, user=user, defaults={"can_write": can_write}
        )
        block.redraw_holders()
        return share

    @transaction.atomic
    def stop(self) -> None:
        """Stop sharing: the block leaves that person's agents."""
        block = self.block
        block.lock()  # nobody attaches it meanwhile
        held = list(block.agents.filter(owner=self.user).order_by("pk"))
        self.delete()
        for agent in held:
            agent.detach(block)
        block.redraw_holders()
