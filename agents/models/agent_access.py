"""Who may see an agent, beside its owner, and in which role."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from django.db import connection, models

from .role import Role, as_stored, role_in

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

AUDIENCE = (
    "SELECT user_id FROM agents_agentshare WHERE agent_id = %s AND user_id IS NOT NULL"
    " UNION SELECT m.user_id FROM agents_agentshare s"
    " JOIN auth_user_groups m ON m.group_id = s.group_id WHERE s.agent_id = %s"
)


class AgentAccess(models.Model):
    """An agent as those see it who are not its owner."""

    is_shared = models.BooleanField(
        default=False, editable=False, help_text="Other people may look, talk or edit."
    )

    role = Role.VIEWER  # of the person that `find_visible_to` read it for

    if TYPE_CHECKING:
        owner_id: int
        deleted_at: Any
        temporary_of_id: UUID | None
        temporary_for_id: int | None

        @classmethod
        def find(cls, pk: Any) -> Self | None: ...

    class Meta:
        abstract = True

    @classmethod
    def find_visible_to(
        cls, user: User | AnonymousUser, pk: UUID, *, temporary: bool = False
    ) -> Self | None:
        """The agent of that id as `visible_to` has it, with the person's `role`, for what each
        message passes; with `temporary`, also a temporary chat of theirs."""
        agent = cls.find(pk)
        if agent is None or (agent.temporary_for_id and not temporary):
            return None
        return agent if agent.is_visible_to(user) else None

    def is_visible_to(self, user: User | AnonymousUser) -> bool:
        """Whether a person sees it, as what they then is its `role`."""
        role = None if self.deleted_at else self.role_of(user)
        if role is not None:
            self.role = role
        return role is not None

    def role_of(self, user: User | AnonymousUser) -> Role | None:
        """What a person may do with it; None where they may not even see it. In a temporary chat
        who began it may do what they may do with its agent."""
        if self.temporary_for_id:
            lasting = type(self).find(self.temporary_of_id)
            mine = self.temporary_for_id == user.pk and lasting and not lasting.deleted_at
            return lasting.role_of(user) if mine and lasting else None
        if self.owner_id == user.pk:
            return Role.OWNER
        return role_in(self.pk, user) if self.is_shared else None

    def audience(self) -> list[int]:
        """The keys of the people who see it: its owner first."""
        if self.temporary_for_id:
            return [self.temporary_for_id]
        if not self.is_shared:
            return [self.owner_id]
        with connection.cursor() as cursor:
            cursor.execute(AUDIENCE, [as_stored(self.pk), as_stored(self.pk)])
            others = {user for (user,) in cursor.fetchall()} - {self.owner_id}
        return [self.owner_id, *sorted(others)]
